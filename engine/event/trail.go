package event

import (
	"slices"

	"pingpost/engine/bitset"
	"pingpost/engine/market"
)

// FilterSetsWithOutcome lists the filter sets (buyers in a campaign) that ended with one outcome in a
// decision. A trail is a list of these, at most one for each outcome. A filter set is in one element,
// or missing if the decision did not reach it. The trail is empty if the campaign's own rules rejected
// the lead. With a thousand buyers the whole trail takes a few hundred bytes.
type FilterSetsWithOutcome struct {
	Outcome    market.BuyerOutcome
	FilterSets bitset.Set
}

// encodeOrDecodeTrail encodes or decodes a trail as a list of messages. Decoding reuses the memory
// of the trail that *trail held before.
func encodeOrDecodeTrail(pb *protobufCodec, fieldNumber uint32, trail *[]FilterSetsWithOutcome) {
	for i := 0; !pb.decoding && i < len(*trail); i++ {
		encodeOrDecodeMessage(pb, fieldNumber, &(*trail)[i], true)
	}
	for pb.number == fieldNumber {
		*trail = slices.Grow(*trail, 1)[:len(*trail)+1]
		step := &(*trail)[len(*trail)-1]
		step.Outcome, step.FilterSets = 0, step.FilterSets[:0]
		pb.readInnerMessageInto(step)
	}
}

// encodeOrDecode encodes or decodes the outcome and its filter sets. Each filter set (a buyer in the
// campaign) is one bit of the 64-bit words. The lowest word is first, and there are no zero words
// at the end.
func (s *FilterSetsWithOutcome) encodeOrDecode(pb *protobufCodec) {
	encodeOrDecodeEnum(pb, 1, &s.Outcome)
	words := s.FilterSets
	for !pb.decoding && len(words) > 0 && words[len(words)-1] == 0 {
		words = words[:len(words)-1]
	}
	encodeOrDecodePackedUint64s(pb, 2, &words)
	if pb.decoding {
		s.FilterSets = words
	}
}
