package event

// LeadPersonalData is the personal part of a lead: the fields that identify the person, and the body
// of the post to the buyer. The log stores it as one encrypted field (Sealed), so that it can be
// erased as one.
type LeadPersonalData struct {
	Fields []LeadField
	Body   []byte
}

// AppendEncoded appends c in the form that is then sealed (encrypted).
func (c *LeadPersonalData) AppendEncoded(dst []byte) []byte {
	pb := takeEncoderFromPool(dst)
	c.encodeOrDecode(pb)
	return pb.finishAndReturnToPool()
}

// Decode reads the form that AppendEncoded writes. The fields share memory with encoded.
func (c *LeadPersonalData) Decode(encoded []byte) error {
	c.Fields, c.Body = c.Fields[:0], nil
	var pb protobufCodec
	return pb.decodeMessage(encoded, c)
}

func (c *LeadPersonalData) encodeOrDecode(pb *protobufCodec) {
	encodeOrDecodeMessageList(pb, 1, &c.Fields)
	encodeOrDecodeBytes(pb, 2, &c.Body)
}
