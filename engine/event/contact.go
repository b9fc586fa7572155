package event

// ContactPart is the personal part of a lead: the fields that identify the person, and the
// body for the buyer. The log stores it as one field, so that it can be sealed and erased
// as one.
type ContactPart struct {
	Fields []Field
	Body   []byte
}

// AppendTo appends c's encoding to dst.
func (c *ContactPart) AppendTo(dst []byte) []byte {
	pb := newEncoder(dst)
	c.encodeOrDecode(pb)
	return pb.finishEncoding()
}

// Decode reads a contact part. The result aliases data.
func (c *ContactPart) Decode(data []byte) error {
	c.Fields, c.Body = c.Fields[:0], nil
	var pb protobufCodec
	return pb.decodeMessage(data, c)
}

func (c *ContactPart) encodeOrDecode(pb *protobufCodec) {
	messageListField(pb, 1, &c.Fields)
	bytesField(pb, 2, &c.Body)
}
