package apidocs

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"sync"

	"github.com/valyala/fasthttp"

	"pingpost/api"
)

// File is a file that the server offers at one path, with its compressed form. It never changes.
type File struct {
	Type   string
	Policy string // Content-Security-Policy; empty for a file that is not HTML
	Cache  string // Cache-Control
	Plain  EncodedBody
	Packed EncodedBody // with gzip; an empty body means that compression does not help
}

// EncodedBody is one form of a file's body, plain or compressed, with its ETag.
type EncodedBody struct {
	Body []byte
	Tag  string // with quotes
}

// cachePublic is the Cache-Control header that lets caches store a public document for five
// minutes.
const cachePublic = "public, max-age=300"

// The paths.
const (
	PathYAML = "/openapi.yaml"
	PathJSON = "/openapi.json"
)

var files = map[string]func() *File{
	PathYAML: sync.OnceValue(func() *File { return NewFile("application/yaml", "", cachePublic, api.PublicYAML()) }),
	PathJSON: sync.OnceValue(func() *File { return NewFile("application/json", "", cachePublic, api.PublicJSON()) }),
}

// FindFile returns the OpenAPI document at PathYAML or PathJSON, or nil for other paths.
func FindFile(path string) *File {
	if file := files[path]; file != nil {
		return file()
	}
	return nil
}

// AdminOpenAPI returns the OpenAPI document of the admin API, as YAML.
var AdminOpenAPI = sync.OnceValue(func() *File { return NewFile("application/yaml", "", "no-cache", api.AdminYAML()) })

// NewFile returns a file with its plain and its gzip-compressed body.
// An empty contentSecurityPolicy sends no such header.
func NewFile(mediaType, contentSecurityPolicy, cacheControl string, body []byte) *File {
	sum := sha256.Sum256(body)
	tag := `"` + hex.EncodeToString(sum[:8])
	file := &File{Type: mediaType, Policy: contentSecurityPolicy, Cache: cacheControl, Plain: EncodedBody{body, tag + `"`}}
	if short := compressGzip(body); len(short) < len(body) {
		file.Packed = EncodedBody{short, tag + `-gzip"`}
	}
	return file
}

// EncodingFor returns the compressed form of the file if it has one and the client accepts gzip, and
// the plain form otherwise.
func (f *File) EncodingFor(header *fasthttp.RequestHeader) *EncodedBody {
	if len(f.Packed.Body) > 0 && header.HasAcceptEncoding("gzip") {
		return &f.Packed
	}
	return &f.Plain
}

// Send answers with the encoding of the file, or with 304 if clientHasIt is set. It reports whether
// it sent the body.
func (f *File) Send(ctx *fasthttp.RequestCtx, encoding *EncodedBody, clientHasIt bool) (sentBody bool) {
	header := &ctx.Response.Header
	header.Set("ETag", encoding.Tag)
	header.Set("Cache-Control", f.Cache)
	header.Set("Vary", "Accept-Encoding")
	if clientHasIt {
		ctx.SetStatusCode(fasthttp.StatusNotModified)
		return false
	}
	header.Set("X-Content-Type-Options", "nosniff")
	if f.Policy != "" {
		header.Set("Content-Security-Policy", f.Policy)
		header.Set("Referrer-Policy", "no-referrer")
	}
	if encoding == &f.Packed {
		header.Set("Content-Encoding", "gzip")
	}
	ctx.SetContentType(f.Type)
	ctx.Response.SetBodyRaw(encoding.Body)
	return true
}

// compressGzip returns the body compressed with gzip at the best level.
func compressGzip(body []byte) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(body)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic("BUG: gzip cannot compress a document in memory: " + err.Error())
	}
	return b.Bytes()
}
