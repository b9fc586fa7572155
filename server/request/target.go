package request

import (
	"bytes"
	"net/url"

	"github.com/valyala/fasthttp"

	"pingpost/server/httperror"
)

// TargetPath returns the path as the client sent it, without its query. The library's own path
// has double slashes, dots and escapes resolved, and a proxy that filters by paths may
// resolve them differently. A target in absolute form has the same path as one without
// scheme and authority. TargetPath returns nil if there is no path.
func TargetPath(header *fasthttp.RequestHeader) []byte {
	path := header.RequestURI()
	if len(path) > 0 && path[0] != '/' {
		_, rest, absolute := cutAuthority(path)
		if !absolute {
			return nil
		}
		path = rest
		if len(path) == 0 || path[0] == '?' {
			return slash // RFC 9110, 4.2.3: an empty path is the same
		}
	}
	if end := bytes.IndexByte(path, '?'); end >= 0 {
		path = path[:end]
	}
	return path
}

var slash = []byte("/")

// cutAuthority splits a request target in absolute form (RFC 9112, 3.2.2) after its
// authority. It returns false for a target in another form or with another scheme.
func cutAuthority(target []byte) (authority, rest []byte, absolute bool) {
	scheme, rest, found := bytes.Cut(target, []byte("://"))
	if !found || !bytes.EqualFold(scheme, []byte("http")) && !bytes.EqualFold(scheme, []byte("https")) {
		return nil, nil, false
	}
	end := bytes.IndexAny(rest, "/?")
	if end < 0 {
		end = len(rest)
	}
	return rest[:end], rest[end:], true
}

// checkTarget rejects a target with a fragment, a path with a malformed escape, or an
// authority that has no host or names a user (RFC 9110, 4.2.4).
func checkTarget(target []byte) httperror.Error {
	if bytes.IndexByte(target, '#') >= 0 {
		return httperror.Fragment
	}
	path, _, _ := bytes.Cut(target, []byte{'?'})
	if bytes.IndexByte(path, '%') >= 0 {
		if _, err := url.PathUnescape(string(path)); err != nil {
			return httperror.BadEscape
		}
	}
	if len(target) == 0 || target[0] == '/' {
		return httperror.Error{}
	}
	authority, _, absolute := cutAuthority(target)
	if absolute && (len(authority) == 0 || authority[0] == ':' || bytes.IndexByte(authority, '@') >= 0) {
		return httperror.BadAuthority
	}
	return httperror.Error{}
}

// TargetHost returns the host of a request. The authority of a target in absolute form replaces
// the Host header (RFC 9112, 3.2.2).
func TargetHost(header *fasthttp.RequestHeader) []byte {
	if authority, _, absolute := cutAuthority(header.RequestURI()); absolute {
		return authority
	}
	return header.Host()
}

// IsPlainPath reports whether the path has no dots or double slashes to resolve. The admin
// address allows escapes, because a client's name may need them.
func IsPlainPath(ctx *fasthttp.RequestCtx) bool {
	path, err := url.PathUnescape(string(TargetPath(&ctx.Request.Header)))
	return err == nil && path == string(ctx.Path())
}
