package dashboard

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"path"
	"strings"
	"sync"

	"pingpost/server/page"
)

//go:embed dist
var dist embed.FS

// Policy is what a browser lets the page do. Charts and gauges set styles by script,
// which this allows; it forbids those in the markup.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"font-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

// The page itself, and its picture; all else of it is below Assets.
const (
	Page   = "/"
	Icon   = "/favicon.svg"
	Assets = "/assets/"
)

// File is what is served at one path. It never changes.
type File struct {
	Type  string
	Cache string // Cache-Control
	Plain Form
	Gzip  Form // its body is empty where that would not be shorter
}

// Form is a file's bytes, and the tag that names them, with its quotes.
type Form struct {
	Body []byte
	Tag  string
}

// Find is the file at a path of the admin address; nil: there is none.
func Find(at string) *File { return files()[at] }

// Paths are those at which there is a file.
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

// kinds are the contents that there are, by the ends of their names.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8",
	".css": "text/css; charset=utf-8", ".svg": "image/svg+xml",
}

// newFile makes a file. The name of an asset is made of its content, so whoever has it
// need not ask again; the page names the assets, and has to be asked for each time.
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
	if short := page.Pack(body); len(short) < len(body) {
		file.Gzip = Form{short, tag + `-gzip"`}
	}
	return file
}
