package docsite

import (
	"embed"
	"path"
	"strings"
	"sync"

	"pingpost/server/apidocs"
)

//go:embed dist
var dist embed.FS

// The address of the site's first page, and the prefix of all others.
const (
	Home   = "/docs"
	Prefix = "/docs/"
)

// Policy is the Content-Security-Policy of all files.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

// Cache is the Cache-Control of all files. It lets caches store a file for five minutes. Names do not change with the content, so that a
// change of one page leaves the other pages of the build as they are.
const Cache = "public, max-age=300"

// kinds maps file name extensions to media types.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".json": "application/json", ".svg": "image/svg+xml", ".webp": "image/webp",
}

// FindFile returns the file of the site at a path, or nil. It compresses a file once, when the
// first request asks for it.
func FindFile(at string) *apidocs.File {
	if file := files()[at]; file != nil {
		return file()
	}
	return nil
}

// Paths returns the paths of all files of the site.
func Paths() []string {
	paths := make([]string, 0, len(files()))
	for at := range files() {
		paths = append(paths, at)
	}
	return paths
}

var files = sync.OnceValue(func() map[string]func() *apidocs.File {
	entries, err := dist.ReadDir("dist")
	if err != nil {
		panic("BUG: cannot list the embedded documentation: " + err.Error())
	}
	found := make(map[string]func() *apidocs.File, len(entries))
	for _, entry := range entries {
		name := entry.Name()
		found[pathOf(name)] = sync.OnceValue(func() *apidocs.File { return loadFile(name) })
	}
	return found
})

// pathOf returns the path of an embedded file. Pages have no extension.
func pathOf(name string) string {
	if name == "index.html" {
		return Home
	}
	return Prefix + strings.TrimSuffix(name, ".html")
}

func loadFile(name string) *apidocs.File {
	kind := kinds[path.Ext(name)]
	if kind == "" {
		panic("BUG: a file of the documentation has an extension without a media type: " + name)
	}
	body, err := dist.ReadFile("dist/" + name)
	if err != nil {
		panic("BUG: cannot read the embedded documentation: " + err.Error())
	}
	return apidocs.NewFile(kind, Policy, Cache, body)
}
