package dashboard

import (
	"bytes"
	"compress/gzip"
	"io"
	"regexp"
	"strings"
	"testing"
)

// most is how many bytes the page may have in all, packed.
const most = 150 << 10

func TestPageIsSmall(t *testing.T) {
	sum := 0
	for _, at := range Paths() {
		file := FindFile(at)
		n := len(file.Plain.Body)
		if len(file.Packed.Body) > 0 {
			n = len(file.Packed.Body)
		}
		t.Logf("%7d  %s", n, at)
		sum += n
	}
	t.Logf("%7d  in all", sum)
	if sum > most {
		t.Errorf("%d bytes, at most %d", sum, most)
	}
}

// TestPageLoadsWhatIsThere: each file that another names is served, and nothing is loaded
// from elsewhere. The name of a drawing's standard is no load, nor is an example in a form.
func TestPageLoadsWhatIsThere(t *testing.T) {
	page := FindFile(Page)
	if page == nil {
		t.Fatal("no page")
	}
	named := regexp.MustCompile(`(?:src|href)="([^"]+)"`).FindAllSubmatch(page.Plain.Body, -1)
	if len(named) < 3 { // a script, a style, a picture
		t.Errorf("the page names %d files", len(named))
	}
	for _, one := range named {
		if FindFile(string(one[1])) == nil {
			t.Errorf("the page names %s, which there is not", one[1])
		}
	}
	elsewhere := regexp.MustCompile(`(?:https?:)?//[a-z0-9.-]+\.[a-z]{2,}`)
	for _, at := range Paths() {
		for _, found := range elsewhere.FindAllString(string(FindFile(at).Plain.Body), -1) {
			if found != "http://www.w3.org" && !strings.HasSuffix(found, ".example") {
				t.Errorf("%s names %s", at, found)
			}
		}
	}
}

// TestPageFitsItsPolicy: nothing in the markup runs or styles by itself.
func TestPageFitsItsPolicy(t *testing.T) {
	page := string(FindFile(Page).Plain.Body)
	for _, inline := range []string{`<script>`, `<style`, ` style="`, ` onclick`, ` onload`, `javascript:`} {
		if strings.Contains(page, inline) {
			t.Errorf("the page has %s, which its policy refuses", inline)
		}
	}
	for _, must := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"} {
		if !strings.Contains(Policy, must) {
			t.Errorf("the policy does not say %s", must)
		}
	}
	for _, mustNot := range []string{"unsafe", "*", "http:", "https:"} {
		if strings.Contains(Policy, mustNot) {
			t.Errorf("the policy says %s", mustNot)
		}
	}
}

func TestFormsAreOfOneContent(t *testing.T) {
	tags := map[string]string{}
	for _, at := range Paths() {
		file := FindFile(at)
		r, err := gzip.NewReader(bytes.NewReader(file.Packed.Body))
		if err != nil {
			t.Fatalf("%s: %v", at, err)
		}
		if unpacked, err := io.ReadAll(r); err != nil || !bytes.Equal(unpacked, file.Plain.Body) {
			t.Errorf("%s: what is packed is another file, %v", at, err)
		}
		for _, tag := range []string{file.Plain.Tag, file.Packed.Tag} {
			if tags[tag] != "" || !strings.HasPrefix(tag, `"`) || !strings.HasSuffix(tag, `"`) {
				t.Errorf("%s: tag %s, which %q has too", at, tag, tags[tag])
			}
			tags[tag] = at
		}
		if forever := strings.Contains(file.Cache, "immutable"); forever != strings.HasPrefix(at, Assets) {
			t.Errorf("%s: kept as %s", at, file.Cache)
		}
	}
}
