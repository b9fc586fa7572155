package event

// ContactPart is the personal part of a lead: the fields that identify the person, and the body
// of the post to the buyer. The log stores it as one encrypted field (Sealed), so that it can be
// erased as one.
type ContactPart struct {
	Fields []Field
	Body   []byte
}

// AppendTo appends c in the form that is then sealed (encrypted).
func (c *ContactPart) AppendTo(dst []byte) []byte {
	pb := newEncoder(dst)
	c.encodeOrDecode(pb)
	return pb.finishEncoding()
}

// Decode reads the form that AppendTo writes. The fields share memory with data.
func (c *ContactPart) Decode(data []byte) error {
	c.Fields, c.Body = c.Fields[:0], nil
	var pb protobufCodec
	return pb.decodeMessage(data, c)
}

func (c *ContactPart) encodeOrDecode(pb *protobufCodec) {
	messageListField(pb, 1, &c.Fields)
	bytesField(pb, 2, &c.Body)
}
