package dashboard

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
)

// maxPageSize is the limit of all files together, compressed, in bytes.
const maxPageSize = 150 << 10

func TestPageSizeIsLimited(t *testing.T) {
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
	t.Logf("%7d  total", sum)
	if sum > maxPageSize {
		t.Errorf("the files have %d bytes, want at most %d", sum, maxPageSize)
	}
}

// Go leaves files whose names begin with _ or . out of an embedded folder, unless the pattern says all.
func TestEachBuiltFileIsServed(t *testing.T) {
	built := 0
	err := fs.WalkDir(os.DirFS("dist"), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && name != "index.html" {
			built++
			if FindFile("/"+name) == nil {
				t.Errorf("dist/%s is not served", name)
			}
		}
		return err
	})
	if err != nil || built < 3 {
		t.Errorf("found %d built files: %v", built, err)
	}
}

// Each file that the page names is served, and no file is loaded from another host. Names
// of XML namespaces and example addresses are not loads.
func TestPageLoadsOnlyServedFiles(t *testing.T) {
	page := FindFile(Page)
	if page == nil {
		t.Fatal("no page")
	}
	named := regexp.MustCompile(`(?:src|href)="([^"]+)"`).FindAllSubmatch(page.Plain.Body, -1)
	if len(named) < 3 { // a script, a style sheet, an icon
		t.Errorf("the page names %d files, want at least 3", len(named))
	}
	for _, one := range named {
		if FindFile(string(one[1])) == nil {
			t.Errorf("the page names %s, which is not served", one[1])
		}
	}
	elsewhere := regexp.MustCompile(`(?:https?:)?//[a-z0-9.-]+\.[a-z]{2,}`)
	for _, at := range Paths() {
		for _, found := range elsewhere.FindAllString(string(FindFile(at).Plain.Body), -1) {
			if found != "http://www.w3.org" && !strings.HasSuffix(found, ".example") {
				t.Errorf("%s contains the address %s", at, found)
			}
		}
	}
}

// The page has no inline scripts and styles, which its policy forbids.
func TestPageHasNoInlineCode(t *testing.T) {
	page := string(FindFile(Page).Plain.Body)
	for _, inline := range []string{`<script>`, `<style`, ` style="`, ` onclick`, ` onload`, `javascript:`} {
		if strings.Contains(page, inline) {
			t.Errorf("the page has %s, which its policy forbids", inline)
		}
	}
	for _, must := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"} {
		if !strings.Contains(Policy, must) {
			t.Errorf("the policy lacks %s", must)
		}
	}
	for _, mustNot := range []string{"unsafe", "*", "http:", "https:"} {
		if strings.Contains(Policy, mustNot) {
			t.Errorf("the policy contains %s", mustNot)
		}
	}
}

func TestPackedFileEqualsPlainFile(t *testing.T) {
	tags := map[string]string{}
	for _, at := range Paths() {
		file := FindFile(at)
		r, err := gzip.NewReader(bytes.NewReader(file.Packed.Body))
		if err != nil {
			t.Fatalf("%s: %v", at, err)
		}
		if unpacked, err := io.ReadAll(r); err != nil || !bytes.Equal(unpacked, file.Plain.Body) {
			t.Errorf("%s: the compressed file differs, %v", at, err)
		}
		for _, tag := range []string{file.Plain.Tag, file.Packed.Tag} {
			if tags[tag] != "" || !strings.HasPrefix(tag, `"`) || !strings.HasSuffix(tag, `"`) {
				t.Errorf("%s: ETag %s is invalid or also that of %q", at, tag, tags[tag])
			}
			tags[tag] = at
		}
		if forever := strings.Contains(file.Cache, "immutable"); forever != strings.HasPrefix(at, Assets) {
			t.Errorf("%s: Cache-Control is %s", at, file.Cache)
		}
	}
}
