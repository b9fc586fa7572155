package dashboard

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"path"
	"strings"
	"sync"

	"pingpost/server/apidocs"
)

//go:embed dist
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

// File is a file that is served at one path. It never changes.
type File struct {
	Type  string
	Cache string // Cache-Control
	Plain Form
	Gzip  Form // an empty body means that compression does not help
}

// Form is the body of a file and its ETag, with quotes.
type Form struct {
	Body []byte
	Tag  string
}

// FindFile returns the file at a path of the admin address, or nil.
func FindFile(at string) *File { return files()[at] }

// Paths returns the paths that have a file.
func Paths() []string {
	paths := make([]string, 0, len(files()))
	for at := range files() {
		paths = append(paths, at)
	}
	return paths
}

var files = sync.OnceValue(func() map[string]*File {
	found := make(map[string]*File)
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
		panic("BUG: what was built into the program cannot be read: " + err.Error())
	}
	return found
})

// kinds maps file name extensions to media types.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8",
	".css": "text/css; charset=utf-8", ".svg": "image/svg+xml",
}

// newFile returns a file. An asset's name contains a hash of its content, so browsers cache
// it forever. The page names the assets and is revalidated each time.
func newFile(at, end string, body []byte) *File {
	kind := kinds[end]
	if kind == "" {
		panic("BUG: the page has a file of a kind that has no name here: " + at)
	}
	sum := sha256.Sum256(body)
	tag := `"` + hex.EncodeToString(sum[:8])
	file := &File{Type: kind, Cache: "no-cache", Plain: Form{body, tag + `"`}}
	if strings.HasPrefix(at, Assets) {
		file.Cache = "public, max-age=31536000, immutable"
	}
	if short := apidocs.Compress(body); len(short) < len(body) {
		file.Gzip = Form{short, tag + `-gzip"`}
	}
	return file
}
