package public

import (
	"pingpost/engine/market"
)

// rejectDetails explains to a person why a ping got no bid. Replayed answers contain these
// texts for as long as idempotency keys are kept, so a change of a text changes past
// answers.
var rejectDetails = [...]string{
	market.ReasonNoBuyer:           "No buyer takes part in this campaign.",
	market.ReasonNoStateMatch:      "No buyer takes leads from this state.",
	market.ReasonFiltered:          "The values of this ping pass no buyer's filters, or not the campaign's.",
	market.ReasonOutsideSchedule:   "Every buyer who could take it is closed at this hour.",
	market.ReasonCapsFull:          "Every buyer who could take it has as many as it wants.",
	market.ReasonInsufficientFunds: "No buyer who could take it has the funds for it.",
	market.ReasonRateLimited:       "Every buyer who could be asked has been asked as often as it allows.",
	market.ReasonTimeout:           "No buyer answered in time.",
	market.ReasonNoBid:             "The buyers were asked, and none made a bid that stands.",
	market.ReasonBelowFloor:        "What was bid is below the campaign's floor.",
	market.ReasonBidExpired:        "What was bid had expired already.",
	market.ReasonPostRejected:      "The buyers refused it.",
	market.ReasonSuppressed:        "It is on a suppression list.",
	market.ReasonDuplicate:         "It was sold before.",
	market.ReasonNoCampaign:        "No active campaign takes pings of this vertical from this seller.",
	market.ReasonLoop:              "The ping has been through too many exchanges.",
}

func pingRejectDetail(reason market.UnsoldReason) string {
	if int(reason) < len(rejectDetails) {
		return rejectDetails[reason]
	}
	return ""
}
