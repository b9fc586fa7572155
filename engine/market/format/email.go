package format

const (
	MaxEmail      = 254 // bytes
	maxEmailLocal = 64  // bytes before the @
	maxDNSLabel   = 63  // bytes
)

// AppendEmailWithLowerDomain appends the email address to dst with its domain in lower case. ok reports
// whether the address is valid: a local part of at most 64 bytes, @, and at least two DNS labels,
// 254 bytes in all. It rejects quoted local parts, address literals, display names, comments and
// non-ASCII characters. The local part keeps its case, because its mail host decides whether case
// matters.
func AppendEmailWithLowerDomain(dst, address []byte) (out []byte, ok bool) {
	if len(address) > MaxEmail {
		return dst, false
	}
	at := 0
	for at < len(address) && address[at] != '@' {
		at++
	}
	if at == len(address) || at > maxEmailLocal || !isEmailDotAtom(address[:at]) {
		return dst, false
	}
	domain := address[at+1:]
	if !isEmailDomain(domain) {
		return dst, false
	}
	dst = append(dst, address[:at+1]...)
	return AppendLowerASCII(dst, domain), true
}

// AppendLowerASCII appends in to dst, with the ASCII letters A to Z in lower case and all other bytes
// unchanged.
func AppendLowerASCII(dst, in []byte) []byte {
	for _, c := range in {
		if c-'A' <= 'Z'-'A' {
			c |= 0x20
		}
		dst = append(dst, c)
	}
	return dst
}

// isEmailDotAtom reports whether the text is a valid local part of an email address without quotes:
// allowed characters (RFC 5322's atext), with single dots between them.
func isEmailDotAtom(text []byte) bool {
	start := 0
	for i := 0; i <= len(text); i++ {
		if i < len(text) && text[i] != '.' {
			if !isEmailAtomCharacter(text[i]) {
				return false
			}
			continue
		}
		if i == start {
			return false
		}
		start = i + 1
	}
	return true
}

// isEmailAtomCharacter reports whether the local part of an email address may have the character
// without quotes.
func isEmailAtomCharacter(c byte) bool {
	if isAlphanumeric(c) {
		return true
	}
	switch c {
	case '!', '#', '$', '%', '&', '\'', '*', '+', '-', '/', '=', '?', '^', '_', '`', '{', '|', '}', '~':
		return true
	}
	return false
}

// isEmailDomain reports whether the text is a domain: at least two labels of letters, digits and inner
// hyphens, with dots between them.
func isEmailDomain(text []byte) bool {
	labels, start := 0, 0
	for i := 0; i <= len(text); i++ {
		if i < len(text) && text[i] != '.' {
			if !isAlphanumeric(text[i]) && text[i] != '-' {
				return false
			}
			continue
		}
		if i == start || i-start > maxDNSLabel || text[start] == '-' || text[i-1] == '-' {
			return false
		}
		labels++
		start = i + 1
	}
	return labels >= 2
}

func isAlphanumeric(c byte) bool { return IsDigit(c) || (c|0x20)-'a' <= 'z'-'a' }
