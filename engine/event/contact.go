package event

import "github.com/VictoriaMetrics/easyproto"

// ContactPart is the personal part of a lead: the fields that identify the person, and the
// body for the buyer. The log stores it as one field, so that it can be sealed and erased
// as one.
type ContactPart struct {
	Fields []Field
	Body   []byte
}

// AppendTo appends c's encoding to dst.
func (c *ContactPart) AppendTo(dst []byte) []byte {
	w := newRecordWriter(dst)
	mm := w.outermostMessage()
	for i := range c.Fields {
		c.Fields[i].marshal(mm.AppendMessage(1))
	}
	putBytes(mm, 2, c.Body)
	return w.finishRecord()
}

// Decode reads a contact part. The result aliases data.
func (c *ContactPart) Decode(data []byte) error {
	c.Fields, c.Body = c.Fields[:0], nil
	var fields easyproto.FieldContext
	return decodeFields(&fields, data, func(fc *easyproto.FieldContext) bool {
		switch fc.FieldNum {
		case 1:
			return getField(fc, &c.Fields)
		case 2:
			return getBytes(fc, &c.Body)
		}
		return true
	})
}
