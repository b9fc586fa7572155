package instructions

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"strings"
)

//go:embed page.html
var pageText string

//go:embed page.css
var pageStyle string

// page numbers the tables of a section from 1, because a page must not have two regions of one name.
var page = template.Must(template.New("page").Funcs(template.FuncMap{"add1": func(i int) int { return i + 1 }}).Parse(pageText))

// PagePolicy is the Content-Security-Policy of the pages: only the style of the page itself, no
// script, no form, no frame.
var PagePolicy = func() string {
	sum := sha256.Sum256([]byte(pageStyle))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}()

// PageLink is a link at the top of a page.
type PageLink struct{ Text, Target string }

type pageData struct {
	Title    string
	Style    template.CSS
	Links    []PageLink
	Sections []Section
	Message  string
}

// AppendHTML appends the document as an HTML page without scripts. links are at its top, for
// example to other formats.
func (d *Document) AppendHTML(dst []byte, links []PageLink) []byte {
	return appendPage(dst, pageData{Title: d.Title(), Links: links, Sections: d.Sections()})
}

// AppendMessagePage appends an HTML page that shows one message in place of instructions.
func AppendMessagePage(dst []byte, title, message string) []byte {
	return appendPage(dst, pageData{Title: title, Message: message})
}

func appendPage(dst []byte, data pageData) []byte {
	data.Style = template.CSS(pageStyle) //nolint:gosec // embedded text
	b := bytes.NewBuffer(dst)
	if err := page.Execute(b, data); err != nil {
		panic("BUG: the template of the page fails: " + err.Error())
	}
	return b.Bytes()
}

// fileName returns the name of a download, such as instructions-cmp_auto.pdf. Ids have no
// characters that a header would have to quote.
func (d *Document) fileName(extension string) string {
	clean := strings.Map(func(r rune) rune {
		if r > ' ' && r < 0x7f && !strings.ContainsRune(`"\/`, r) {
			return r
		}
		return '_'
	}, d.Campaign.ID)
	return "instructions-" + clean + "." + extension
}
