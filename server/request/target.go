package request

import (
	"bytes"
	"net/url"
	"strconv"

	"github.com/valyala/fasthttp"

	"pingpost/server/httperror"
)

// TargetPath returns the path of the request exactly as the client sent it, without the query.
// It returns nil if there is no path. For a target such as http://host/path it returns /path.
//
// The library's own path is normalized: it has double slashes, dots and escapes resolved. A
// proxy that filters by paths may resolve them differently.
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

// cutAuthority splits a request target such as http://host/path into the authority (host) and
// the rest (RFC 9112, 3.2.2). absolute is false for targets of another form.
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

// checkTarget returns an error for a request target with a fragment or with a malformed escape
// in its path. It also rejects an authority without a host or with a user name (RFC 9110,
// 4.2.4).
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

// TargetHost returns the host to which the client sent the request: from a target such as
// http://host/path, or else from the Host header (RFC 9112, 3.2.2).
func TargetHost(header *fasthttp.RequestHeader) []byte {
	if authority, _, absolute := cutAuthority(header.RequestURI()); absolute {
		return authority
	}
	return header.Host()
}

// CookieNameWithPort returns the name of a cookie for the address of a request: prefix, and the port
// if the address has one, as in prefix-8443. Browsers send a cookie to all ports of a host, so two
// exchanges on one host would otherwise overwrite each other's cookies.
func CookieNameWithPort(header *fasthttp.RequestHeader, prefix string) string {
	host := TargetHost(header)
	port := host[bytes.LastIndexByte(host, ':')+1:]
	if len(port) == len(host) || len(port) > maxPortDigits {
		return prefix
	}
	if _, err := strconv.ParseUint(string(port), 10, 16); err != nil {
		return prefix
	}
	return prefix + "-" + string(port)
}

const maxPortDigits = 5

// IsNormalizedPath reports whether the path contains no dots or double slashes that a proxy might
// resolve. Escapes are allowed, because the admin API's paths contain names that need them.
func IsNormalizedPath(ctx *fasthttp.RequestCtx) bool {
	path, err := url.PathUnescape(string(TargetPath(&ctx.Request.Header)))
	return err == nil && path == string(ctx.Path())
}
