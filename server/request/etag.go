package request

import (
	"bytes"
	"strings"

	"github.com/valyala/fasthttp"
)

// IfNoneMatchHasETag reports whether the client already has the version with this ETag, according to
// its If-None-Match header (RFC 9110, 13.1.2). The answer is then a 304.
func IfNoneMatchHasETag(header *fasthttp.RequestHeader, tag string) bool {
	for _, line := range header.PeekAll("If-None-Match") {
		for one := range bytes.SplitSeq(line, []byte{','}) {
			listed := strings.TrimPrefix(string(bytes.TrimSpace(one)), "W/")
			if listed == "*" || listed == tag {
				return true
			}
		}
	}
	return false
}
