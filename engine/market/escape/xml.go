package escape

import (
	"bytes"
	"encoding/xml"
)

// AppendXMLEscaped appends the text, escaped for XML elements and attributes. Characters that XML
// does not allow become U+FFFD.
func AppendXMLEscaped(dst, text []byte) []byte {
	out := bytes.NewBuffer(dst)
	_ = xml.EscapeText(out, text) // writing to a buffer cannot fail
	return out.Bytes()
}
