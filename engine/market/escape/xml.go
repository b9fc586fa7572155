package escape

import (
	"bytes"
	"encoding/xml"
)

// appendXMLText appends text as it may stand between tags and in attributes.
// What XML has no character for becomes U+FFFD.
func AppendXMLText(dst, text []byte) []byte {
	out := bytes.NewBuffer(dst)
	_ = xml.EscapeText(out, text) // a buffer takes everything
	return out.Bytes()
}
