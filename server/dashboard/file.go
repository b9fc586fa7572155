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
func FindFile(at string) *apidocs.File { return files()[at] }

// Paths returns the paths of all files of the dashboard.
func Paths() []string {
	paths := make([]string, 0, len(files()))
	for at := range files() {
		paths = append(paths, at)
	}
	return paths
}

var files = sync.OnceValue(func() map[string]*apidocs.File {
	found := make(map[string]*apidocs.File)
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
		found[at] = newFile(at, path.Ext(name), body)
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

// newFile returns a file of the dashboard at the path, with this file name extension. An
// asset's name contains a hash of its content, so browsers may cache it forever. They check the
// page, which names the assets, each time.
func newFile(at, extension string, body []byte) *apidocs.File {
	kind := kinds[extension]
	if kind == "" {
		panic("BUG: a dashboard file has an extension without a media type: " + at)
	}
	cache := "no-cache"
	if strings.HasPrefix(at, Assets) {
		cache = "public, max-age=31536000, immutable"
	}
	return apidocs.NewFile(kind, Policy, cache, body)
}
