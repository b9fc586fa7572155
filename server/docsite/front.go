package docsite

import (
	"html/template"
	"strings"
)

// ExchangeFrontPage is the content of the page at /.
type ExchangeFrontPage struct {
	Name    string // of the exchange
	Sandbox bool
	Ready   bool // accepts requests
}

// HTML returns the page. It needs no script, and shares the site's style.
func (f ExchangeFrontPage) HTML() string {
	var b strings.Builder
	if err := frontPage.Execute(&b, f); err != nil {
		panic("BUG: cannot render the front page: " + err.Error())
	}
	return b.String()
}

var frontPage = template.Must(template.New("front").Parse(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{{.Name}} · pingpost lead exchange</title>
<link rel="icon" href="docs/favicon.svg">
<link rel="stylesheet" href="docs/site.css">
</head>
<body>
<main class="front">
<p class="section">pingpost lead exchange</p>
<h1>{{.Name}}</h1>
<p class="status">{{if .Ready}}<strong class="ready">Ready.</strong> The exchange accepts requests.{{else}}<strong>Not ready.</strong> The exchange accepts no requests now. Try again in a minute.{{end}}</p>
{{if .Sandbox}}<p>This is a sandbox: leads here are not real sales.</p>
{{end}}<ul>
<li><a href="docs">Documentation</a> for suppliers, buyers and operators
<li><a href="docs/api">API reference</a>, also as an <a href="openapi.yaml">OpenAPI document</a>
</ul>
</main>
</body>
</html>
`))
