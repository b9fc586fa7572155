package apidocs

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"sync"

	"pingpost/api"
)

// File is a file that is served at one path. It is built at first use and never changes.
type File struct {
	Type   string
	Policy string // Content-Security-Policy; empty for a file that is not HTML
	Plain  Form
	Packed Form // with gzip
}

// Form is the body of a file and its ETag.
type Form struct {
	Body []byte
	Tag  string // with quotes
}

// The paths.
const (
	PathYAML = "/openapi.yaml"
	PathJSON = "/openapi.json"
	PathPage = "/docs"
)

var files = map[string]func() *File{
	PathYAML: sync.OnceValue(func() *File { return newFile("application/yaml", "", api.PublicYAML()) }),
	PathJSON: sync.OnceValue(func() *File { return newFile("application/json", "", api.PublicJSON()) }),
	PathPage: sync.OnceValue(func() *File {
		html, policy := newPage()
		return newFile("text/html; charset=utf-8", policy, html)
	}),
}

// FindFile returns the file at one of the paths above.
func FindFile(path string) *File {
	file := files[path]
	if file == nil {
		panic("BUG: there is no file at this path")
	}
	return file()
}

// Admin returns the OpenAPI document of the admin API, as YAML.
var Admin = sync.OnceValue(func() *File { return newFile("application/yaml", "", api.AdminYAML()) })

func newFile(kind, policy string, body []byte) *File {
	sum := sha256.Sum256(body)
	tag := `"` + hex.EncodeToString(sum[:8])
	return &File{Type: kind, Policy: policy, Plain: Form{body, tag + `"`}, Packed: Form{Compress(body), tag + `-gzip"`}}
}

// Compress compresses a body with gzip.
func Compress(body []byte) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(body)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic("BUG: memory refused a byte: " + err.Error())
	}
	return b.Bytes()
}
