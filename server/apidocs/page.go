package apidocs

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"strings"
)

//go:embed dist/redoc.standalone.js
var redoc []byte

// logo is the only resource that Redoc would load from another host, for a line that names
// its author. Redoc leaves it out if it cannot load it; it cannot render an empty one.
const logo, noLogo = "https://cdn.redoc.ly/redoc/logo-mini.svg", "data:,"

// start makes Redoc render the document beside the page, with system fonts. Its search is
// off, because it runs in a worker whose script would have to come from a blob. Browsers
// can search the page, which is complete.
const start = `
Redoc.init('openapi.json', {
  disableSearch: true, hideDownloadButton: false, expandResponses: '200,201', jsonSampleExpandLevel: 4,
  pathInMiddlePanel: true, sortRequiredPropsFirst: true, nativeScrollbars: true,
  theme: {typography: {
    fontFamily: 'system-ui, sans-serif', headings: {fontFamily: 'system-ui, sans-serif'},
    code: {fontFamily: 'ui-monospace, monospace'},
  }},
}, document.getElementById('redoc'));
`

const style = `body { margin: 0 }`

const head = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>pingpost API</title>
<link rel="icon" href="data:,">
<style>` + style + `</style>
<div id="redoc"></div>
<noscript>This page needs JavaScript. The same content is in <a href="openapi.yaml">openapi.yaml</a>.</noscript>
`

// newReferencePage returns the HTML of the documentation page and its Content-Security-Policy. The
// policy allows inline styles, because Redoc writes them while it renders.
func newReferencePage() (html []byte, contentSecurityPolicy string) {
	if bytes.Count(redoc, []byte(logo)) != 1 {
		panic("BUG: the embedded Redoc does not contain its logo's URL once") // a test makes the page
	}
	var b bytes.Buffer
	b.WriteString(head)
	hashes := make([]string, 0, 2)
	for _, script := range [...][]byte{bytes.Replace(redoc, []byte(logo), []byte(noLogo), 1), []byte(start)} {
		sum := sha256.Sum256(script)
		hashes = append(hashes, "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
		b.WriteString("<script>")
		b.Write(script)
		b.WriteString("</script>\n")
	}
	return b.Bytes(), "default-src 'none'; script-src " + strings.Join(hashes, " ") + "; style-src 'unsafe-inline'; " +
		"img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}
