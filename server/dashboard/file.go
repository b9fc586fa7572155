package dashboard

import (
	"embed"
	"io/fs"
	"path"
	"strings"
	"sync"

	"pingpost/server/apidocs"
)

//go:embed all:dist
var dist embed.FS

// Policy is the Content-Security-Policy of the page. Charts and gauges set styles by
// script, which it allows; it forbids styles in the markup.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"font-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

// The page and its icon; all other files are below Assets.
const (
	Page   = "/"
	Icon   = "/favicon.svg"
	Assets = "/assets/"
)

// FindFile returns the dashboard's file at a path of the admin address, or nil.
func FindFile(at string) *apidocs.File {
	if file := files()[at]; file != nil {
		return file()
	}
	return nil
}

// Paths returns the paths of all files of the dashboard.
func Paths() []string {
	paths := make([]string, 0, len(files()))
	for at := range files() {
		paths = append(paths, at)
	}
	return paths
}

// files returns the files by their paths. The first request for a file compresses it, so that a
// start does not.
var files = sync.OnceValue(func() map[string]func() *apidocs.File {
	found := make(map[string]func() *apidocs.File)
	err := fs.WalkDir(dist, "dist", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		body, err := dist.ReadFile(name)
		if err != nil {
			return err
		}
		at := strings.TrimPrefix(name, "dist")
		if at == "/index.html" {
			at = Page
		}
		kind := kinds[path.Ext(name)]
		if kind == "" {
			panic("BUG: a dashboard file has an extension without a media type: " + at)
		}
		found[at] = sync.OnceValue(func() *apidocs.File { return newFile(at, kind, body) })
		return nil
	})
	if err != nil {
		panic("BUG: cannot read the dashboard's embedded files: " + err.Error())
	}
	return found
})

// kinds maps file name extensions to media types.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8",
	".css": "text/css; charset=utf-8", ".svg": "image/svg+xml",
}

// newFile returns a file of the dashboard at the path. An asset's name contains a hash of its
// content, so browsers may cache it forever. They check the page, which names the assets, each time.
func newFile(at, kind string, body []byte) *apidocs.File {
	cache := "no-cache"
	if strings.HasPrefix(at, Assets) {
		cache = "public, max-age=31536000, immutable"
	}
	return apidocs.NewFile(kind, Policy, cache, body)
}
