package docsite

import (
	"html"
	"net/url"
	"path"
	"regexp"
	"strings"
	"testing"
)

// The limits of a page with its style and script, and of all files in the program, in bytes.
const (
	maxTransfer = 50 << 10 // compressed
	maxSite     = 4 << 20
)

var (
	links    = regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	ids      = regexp.MustCompile(` id="([^"]*)"`)
	titles   = regexp.MustCompile(`<title>[^<]+</title>`)
	headings = regexp.MustCompile(`<h1[ >]`)
	inline   = regexp.MustCompile(`<script>|<style| style="| on[a-z]+="|javascript:`)
)

// size returns the bytes that a browser receives for a file.
func size(t *testing.T, at string) int {
	t.Helper()
	file := FindFile(at)
	if file == nil {
		t.Fatalf("no file at %s", at)
	}
	if n := len(file.Packed.Body); n > 0 {
		return n
	}
	return len(file.Plain.Body)
}

func isPage(at string) bool { return strings.HasPrefix(FindFile(at).Type, "text/html") }

// Each link of a page leads to a served file and an existing anchor, or to another site.
func TestLinksOfSite(t *testing.T) {
	anchors := map[string]map[string]bool{}
	for _, at := range Paths() {
		if !isPage(at) {
			continue
		}
		anchors[at] = map[string]bool{}
		for _, id := range ids.FindAllSubmatch(FindFile(at).Plain.Body, -1) {
			if anchors[at][string(id[1])] {
				t.Errorf("%s: the id %q occurs twice", at, id[1])
			}
			anchors[at][string(id[1])] = true
		}
	}
	for at := range anchors {
		for _, link := range links.FindAllSubmatch(FindFile(at).Plain.Body, -1) {
			href := html.UnescapeString(string(link[1]))
			if fault := checkLink(anchors, at, href); fault != "" {
				t.Errorf("%s: %s: %s", at, href, fault)
			}
		}
	}
}

func checkLink(anchors map[string]map[string]bool, at, href string) (fault string) {
	to, err := url.Parse(href)
	if err != nil {
		return err.Error()
	}
	target := at
	switch {
	case to.Scheme == "https" || to.Scheme == "http":
		return ""
	case to.Scheme != "" || to.Host != "" || strings.HasPrefix(href, "/"):
		return "the link is not relative"
	case to.Path != "":
		target = path.Join(path.Dir(at), to.Path)
	}
	switch {
	case target == "/openapi.yaml" || target == "/openapi.json":
		return ""
	case FindFile(target) == nil:
		return "there is no such file"
	case to.Fragment != "" && !anchors[target][to.Fragment]:
		return "there is no such anchor"
	}
	return ""
}

// Each page has a title of its own, one main heading and no inline code, which the policy forbids.
func TestPages(t *testing.T) {
	seen := map[string]string{}
	for _, at := range Paths() {
		if !isPage(at) {
			continue
		}
		body := FindFile(at).Plain.Body
		title := string(titles.Find(body))
		if title == "" || seen[title] != "" {
			t.Errorf("%s: the title %q is missing or also that of %s", at, title, seen[title])
		}
		seen[title] = at
		if n := len(headings.FindAll(body, -1)); n != 1 {
			t.Errorf("%s: %d main headings, want 1", at, n)
		}
		if code := inline.Find(body); code != nil {
			t.Errorf("%s has %s, which its policy forbids", at, code)
		}
	}
	if len(seen) < 60 {
		t.Errorf("%d pages, want at least 60", len(seen))
	}
}

func TestSizeOfSiteIsLimited(t *testing.T) {
	shared := size(t, Prefix+"site.css") + size(t, Prefix+"site.js") + size(t, Prefix+"favicon.svg")
	sum := 0
	for _, at := range Paths() {
		sum += len(FindFile(at).Plain.Body)
		if n := shared + size(t, at); isPage(at) && n > maxTransfer {
			t.Errorf("%s loads %d bytes, want at most %d", at, n, maxTransfer)
		}
	}
	if sum > maxSite {
		t.Errorf("the site has %d bytes, want at most %d", sum, maxSite)
	}
}

func TestFrontPage(t *testing.T) {
	for name, row := range map[string]struct {
		front     ExchangeFrontPage
		has, lack string
	}{
		"ready":     {ExchangeFrontPage{Name: "acme", Ready: true}, "Ready.", "Not ready"},
		"not ready": {ExchangeFrontPage{Name: "acme"}, "Not ready.", ">Ready"},
		"sandbox":   {ExchangeFrontPage{Name: "acme", Sandbox: true, Ready: true}, "not real sales", "Not ready"},
		"markup":    {ExchangeFrontPage{Name: "<b>", Ready: true}, "&lt;b&gt;", "<b>"},
	} {
		page := row.front.HTML()
		if !strings.Contains(page, row.has) || strings.Contains(page, row.lack) || !strings.Contains(page, `href="docs"`) {
			t.Errorf("%s: got %s", name, page)
		}
		if code := inline.FindString(page); code != "" {
			t.Errorf("%s: the page has %s, which its policy forbids", name, code)
		}
		for _, link := range links.FindAllStringSubmatch(page, -1) {
			if at := "/" + link[1]; at != "/openapi.yaml" && FindFile(at) == nil {
				t.Errorf("%s: %s is not served", name, at)
			}
		}
	}
}
