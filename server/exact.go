package server

import (
	"bytes"
	"net/url"

	"github.com/valyala/fasthttp"
)

// exactPath is the path as it was sent, without its query. The library's own
// has double slashes, dots and escapes resolved, and who stands before the
// exchange and judges by paths may resolve them otherwise. A whole address is
// taken where it names the host that the request is for. Nil: no path.
func exactPath(header *fasthttp.RequestHeader) []byte {
	path := header.RequestURI()
	if len(path) > 0 && path[0] != '/' {
		host := header.Host()
		rest, ok := bytes.CutPrefix(path, []byte("http://"))
		if !ok {
			rest, ok = bytes.CutPrefix(path, []byte("https://"))
		}
		if !ok || len(host) == 0 || len(rest) <= len(host) || !bytes.EqualFold(rest[:len(host)], host) || rest[len(host)] != '/' {
			return nil
		}
		path = rest[len(host):]
	}
	if end := bytes.IndexAny(path, "?#"); end >= 0 {
		path = path[:end]
	}
	return path
}

// plainPath tells whether the path was sent without dots or double slashes to
// resolve. Escapes are fine on the admin address: a client's name may need them.
func plainPath(ctx *fasthttp.RequestCtx) bool {
	path, err := url.PathUnescape(string(exactPath(&ctx.Request.Header)))
	return err == nil && path == string(ctx.Path())
}
