package request

import (
	"bytes"

	"pingpost/server/httperror"
)

// IsJSON reports whether a Content-Type is application/json, with or without parameters such as
// a charset.
func IsJSON(contentType []byte) bool { return HasMediaType(contentType, httperror.TypeJSON) }

func HasMediaType(contentType []byte, mediaType string) bool {
	kind, _, _ := bytes.Cut(contentType, []byte{';'})
	return bytes.EqualFold(bytes.TrimSpace(kind), []byte(mediaType))
}
