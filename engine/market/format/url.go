package format

import (
	"bytes"
	"math"
	"strings"
	"unicode/utf8"
)

const (
	MaxURL  = 2048 // bytes
	maxHost = 253  // bytes
	maxPort = 65535
)

// ParseDigits returns the number that the text's digits form. ok is false for an empty text, for
// another character, and for a number too large for an int.
func ParseDigits(text []byte) (n int, ok bool) {
	for _, c := range text {
		if !IsDigit(c) || n > (math.MaxInt-int(c-'0'))/10 {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, len(text) > 0
}

// IsURL reports whether the text is an absolute http or https address, or an https address if
// onlyHTTPS is set. The host is a name, IPv4, or IPv6 in brackets. A port is optional; a user or
// password is not allowed. All characters are printable ASCII, as in RFC 3986.
func IsURL(text []byte, onlyHTTPS bool) bool {
	rest, ok := CutHTTPScheme(text, onlyHTTPS)
	if !ok {
		return false
	}
	end := bytes.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	return isHostWithOptionalPort(rest[:end]) && hasOnlyPathQueryFragmentChars(rest[end:])
}

// CutHTTPScheme returns the address without http:// or https:// at its start. ok is false for other
// schemes, and for http:// if onlyHTTPS is set.
func CutHTTPScheme(text []byte, onlyHTTPS bool) (rest []byte, ok bool) {
	var lower [8]byte // https://
	head := AppendLowerASCII(lower[:0], text[:min(len(text), len(lower))])
	switch {
	case bytes.HasPrefix(head, []byte("https://")):
		return text[len("https://"):], true
	case !onlyHTTPS && bytes.HasPrefix(head, []byte("http://")):
		return text[len("http://"):], true
	}
	return nil, false
}

// isHostWithOptionalPort reports whether the text is a host with an optional port.
func isHostWithOptionalPort(text []byte) bool {
	host, port, hasPort := text, []byte(nil), false
	if len(text) > 0 && text[0] == '[' {
		end := bytes.IndexByte(text, ']')
		if end < 0 || !isIPv6Address(text[1:end]) {
			return false
		}
		rest := text[end+1:]
		hasPort = len(rest) > 0
		if hasPort && rest[0] != ':' {
			return false
		}
		return !hasPort || isPort(rest[1:])
	}
	if colon := bytes.IndexByte(text, ':'); colon >= 0 {
		host, port, hasPort = text[:colon], text[colon+1:], true
	}
	return isHostnameOrIPv4(host) && (!hasPort || isPort(port))
}

// isPort reports whether the text is a port number from 1 to 65535.
func isPort(text []byte) bool {
	port, ok := ParseDigits(text)
	return ok && len(text) <= 5 && port >= 1 && port <= maxPort
}

// isHostnameOrIPv4 reports whether the text is a host name or an IPv4 address. Unlike an email's domain
// it may have one label alone, and underscores.
func isHostnameOrIPv4(text []byte) bool {
	if len(text) > maxHost {
		return false
	}
	for label := range bytes.SplitSeq(text, []byte{'.'}) {
		if len(label) == 0 || len(label) > maxDNSLabel || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, c := range label {
			if !isAlphanumeric(c) && c != '-' && c != '_' {
				return false
			}
		}
	}
	return true
}

// isIPv6Address reports whether the text has the form of an IPv6 address: groups of hex digits, at most
// one ::.
func isIPv6Address(text []byte) bool {
	groups, gaps := 0, bytes.Count(text, []byte("::"))
	if gaps > 1 || bytes.Contains(text, []byte(":::")) || len(text) < 2 {
		return false
	}
	first, last := text[0] == ':', text[len(text)-1] == ':'
	if (first && text[1] != ':') || (last && text[len(text)-2] != ':') {
		return false
	}
	for group := range bytes.SplitSeq(text, []byte{':'}) {
		if len(group) == 0 {
			continue
		}
		if len(group) > 4 || !allHex(group) {
			return false
		}
		groups++
	}
	return groups == 8 && gaps == 0 || groups < 8 && gaps == 1
}

// hasOnlyPathQueryFragmentChars reports whether the text has only characters that a path, query and
// fragment of an address may have.
func hasOnlyPathQueryFragmentChars(text []byte) bool {
	for i := range text {
		switch c := text[i]; {
		case c <= ' ' || c >= 0x7F:
			return false
		case strings.IndexByte("\"<>\\^`{|}", c) >= 0:
			return false
		case c == '%' && (i+2 >= len(text) || !allHex(text[i+1:i+3])):
			return false
		}
	}
	return true
}

func allHex(text []byte) bool {
	for _, c := range text {
		if !IsDigit(c) && (c|0x20)-'a' > 'f'-'a' {
			return false
		}
	}
	return true
}

// IsPrintableText reports whether the text is UTF-8 without control characters. Tabs and line
// ends are allowed.
func IsPrintableText(text []byte) bool {
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			if c == 0x7F || c < ' ' && c != '\t' && c != '\n' && c != '\r' {
				return false
			}
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		if r < 0xA0 || r == utf8.RuneError && size == 1 { // U+0080 to U+009F are controls
			return false
		}
		i += size
	}
	return true
}
