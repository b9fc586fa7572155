package buyer

import "pingpost/engine/market"

// judgeTaken reads a 2xx to a post by the dialect's rules. Only a word that
// means yes is an acceptance and only one that means no is a refusal: of
// anything else nobody can say whether the buyer has the lead.
func (r *reading) judgeTaken(result market.PostResult, body []byte, whole bool) market.PostResult {
	result.Verdict = market.VerdictUnknown
	if !whole {
		return result
	}
	f, err := r.read(body)
	if err != nil {
		result.Fault = market.FaultUnreadable
		return result
	}
	switch r.accepted(&f) {
	case saidYes:
		result.Verdict, result.BuyerLeadID = market.VerdictAccepted, f.leadID()
	case saidNo:
		result.Verdict, result.Code = market.VerdictRefused, f.reason()
		result.Final = result.Code != reusedKey
	default:
		result.Fault = market.FaultMalformed
	}
	return result
}

// codeOf is the buyer's word in an answer that its status has decided.
func (r *reading) codeOf(body []byte) string {
	f, err := r.read(body)
	if err != nil {
		return ""
	}
	return f.reason()
}
