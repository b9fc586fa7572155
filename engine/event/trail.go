package event

import (
	"slices"

	"pingpost/engine/bitset"
	"pingpost/engine/market"
)

// OutcomeFilterSets lists the filter sets (buyers in a campaign) that ended with one outcome in a
// decision. A trail is a list of these, at most one for each outcome. Every filter set of the
// campaign is in exactly one element. With a thousand buyers the whole trail takes a few hundred
// bytes.
type OutcomeFilterSets struct {
	Outcome    market.Outcome
	FilterSets bitset.Set
}

// trailField encodes or decodes a trail as a list of messages. Decoding reuses the memory of the
// trail that *trail held before.
func trailField(pb *protobufCodec, number uint32, trail *[]OutcomeFilterSets) {
	for i := 0; !pb.decoding && i < len(*trail); i++ {
		messageField(pb, number, &(*trail)[i], true)
	}
	for pb.number == number {
		*trail = slices.Grow(*trail, 1)[:len(*trail)+1]
		step := &(*trail)[len(*trail)-1]
		step.Outcome, step.FilterSets = 0, step.FilterSets[:0]
		pb.decodeInnerMessage(step)
	}
}

// encodeOrDecode encodes or decodes the outcome and its filter sets. The sets are 64-bit words,
// the lowest first, without zero words at the end.
func (s *OutcomeFilterSets) encodeOrDecode(pb *protobufCodec) {
	enumField(pb, 1, &s.Outcome)
	words := s.FilterSets
	for !pb.decoding && len(words) > 0 && words[len(words)-1] == 0 {
		words = words[:len(words)-1]
	}
	packedUint64Field(pb, 2, &words)
	if pb.decoding {
		s.FilterSets = words
	}
}
