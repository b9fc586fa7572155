package instructions

import (
	"slices"

	"pingpost/api/errcode"
	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/server/httperror"
	"pingpost/server/testlead"
	"pingpost/server/wire"
)

// sampleBuyer stands for a buyer in sample answers. No real buyer is shown.
const sampleBuyer = "buy_example"

// samplePayout is the payout in sample answers: 10.00. It is no promise.
const samplePayout = 10_000_000

// sampleID is the random part of the ids in sample answers.
var sampleID = market.ComposeID(1_772_471_045_000, [10]byte{0x51, 0x3a, 0x7c, 0x09, 0xe2, 0x44, 0xb6, 0x18, 0xd5, 0x70})

// sampleIngestAnswers returns answers to an ingest. The code that answers real requests encodes them.
func sampleIngestAnswers(campaign *market.Campaign, s *testlead.Example) []SampleAnswer {
	ingest := func(title, meaning string, a engine.IngestAnswer) SampleAnswer {
		a.Lead, a.Campaign, a.Currency = market.LeadID(sampleID), string(campaign.ID), campaign.Currency
		return SampleAnswer{title, 201, indentJSON(wire.AppendIngestAnswer(nil, &a)), meaning}
	}
	faults := faultsOfBrokenSample(campaign, s)
	return []SampleAnswer{
		ingest("Accepted", "The lead is sold. price is your payout for this lead; the amount here is only an example.", engine.IngestAnswer{Accepted: true, Buyer: sampleBuyer, Payout: samplePayout}),
		ingest("Unmatched", "The lead is stored, and no buyer took it. reason says why. Do not send it again: the answer would be the same.", engine.IngestAnswer{Reason: market.ReasonNoBid}),
		ingest("Duplicate", "The campaign has accepted this person before. Do not send the lead again.", engine.IngestAnswer{Reason: market.ReasonDuplicate}),
		{
			"Rejected with field errors", httperror.InvalidPayload.Status, indentJSON(httperror.AppendJSON(nil, market.RequestID(sampleID), httperror.InvalidPayload, faults...)),
			"The lead is not stored. Correct each field in field_errors, and send the lead again.",
		},
	}
}

// faultsOfBrokenSample returns the field errors of the sample lead without its phone, with a wrong
// e-mail address, and with a wrong value of its first custom field.
func faultsOfBrokenSample(campaign *market.Campaign, s *testlead.Example) []market.FieldError {
	mapping := campaign.Mapping
	wrongValue := map[string]string{mapping.FieldNameFromSuppliers(market.SlotEmail): `"not an address"`}
	if mapping.SlotCount() > int(market.FirstCustomSlot) {
		wrongValue[mapping.FieldNameFromSuppliers(market.FirstCustomSlot)] = `[]`
	}
	broken := slices.DeleteFunc(slices.Clone(s.Members), func(m testlead.Member) bool { return m.Name == mapping.FieldNameFromSuppliers(market.SlotPhone) })
	for i := range broken {
		if value, ok := wrongValue[broken[i].Name]; ok {
			broken[i].Value = []byte(value)
		}
	}
	return testlead.FindFaults(campaign, broken)
}

// codesOfAuctions are the errors that only pings and posts get, and codesOfBuyers those that only
// buyers get.
var (
	codesOfAuctions = []string{
		errcode.InvalidRequest, errcode.UnsupportedGrantType, errcode.InvalidScope, errcode.InvalidClient, errcode.InsufficientScope,
		errcode.AuctionExists, errcode.AlreadySold, errcode.BidExpired, errcode.InvalidBidToken, errcode.PostRejected, errcode.BuyerUnavailable, errcode.BuyerTimeout,
	}
	codesOfBuyers = []string{errcode.InvalidTransition}
)

// errorsForSupplier returns the errors that a supplier can get, by status.
func errorsForSupplier(pingPost bool) (codes []PublicErrorAndRemedy) {
	for _, e := range errcode.Errors {
		if !e.Public || slices.Contains(codesOfBuyers, e.Code) || !pingPost && slices.Contains(codesOfAuctions, e.Code) {
			continue
		}
		codes = append(codes, PublicErrorAndRemedy{e.Status, e.Code, e.Retry, e.Do})
	}
	return codes
}
