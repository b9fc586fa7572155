package buyer

import (
	"strings"

	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
	"pingpost/outbound/buyer/reading"
)

// readPingAnswer reads the body of a 2xx answer to a ping by the dialect's rules, and sets the
// result.
//
//   - If the rules have a field that says whether the buyer accepts, an accepted answer must
//     have a price.
//   - Otherwise a price above zero is a bid. A missing or zero price is a no-bid, because such
//     endpoints write a zero price into every answer.
//   - An answer with a reason for a rejection, but without the field for acceptance, is a
//     no-bid too.
func (d *dialect) readPingAnswer(result *market.PingResult, body []byte, auction []byte) {
	f, err := d.rules.Extract(body)
	if err != nil {
		result.Outcome, result.Fault = market.OutcomeInvalid, market.FaultUnreadable
		return
	}
	decided := d.rules.Paths[reading.Accepted] != ""
	verdict := d.rules.Decide(&f)
	switch {
	case verdict == reading.No,
		decided && verdict == reading.Undecided && f[reading.Accepted] == "" && f[reading.Reason] != "",
		!decided && isEmptyOrZero(f[reading.Price]):
		result.Outcome, result.Reason = market.OutcomeNoBid, reasonCode(&f)
		return
	case decided && verdict == reading.Undecided:
		setInvalidMember(result, d.rules.Paths[reading.Accepted])
		return
	}
	amount, err := market.ParseBidAmount(normalizeAmount(f[reading.Price]))
	if err != nil {
		setInvalidMember(result, d.rules.Paths[reading.Price])
		return
	}
	d.readBidTerms(result, &f, amount, auction)
}

// isEmptyOrZero reports whether a price in a buyer's answer is missing or zero.
func isEmptyOrZero(text string) bool {
	amount, err := market.ParseMoney(normalizeAmount(text))
	return text == "" || err == nil && amount == 0
}

// judgePing sets the result of a ping from the status and the body of a complete answer. A 204
// is a no-bid. Other statuses outside 2xx are errors. The dialect's rules decide about the
// rest.
func (d *dialect) judgePing(result *market.PingResult, body, auction []byte) {
	switch status := result.Status; {
	case status == fasthttp.StatusNoContent:
		result.Outcome = market.OutcomeNoBid
	case status < 200 || status > 299:
		result.Outcome = market.OutcomeError
		if result.Fault == market.FaultNone {
			result.Reason = d.readReason(body)
		}
	default:
		d.readPingAnswer(result, body, auction)
	}
}

// readBidTerms sets the bid with this amount in the result, after it has read currency and
// token from the fields f. If one of them is invalid, the result gets no bid. Without a
// configured token field the auction's id serves as the token.
func (d *dialect) readBidTerms(result *market.PingResult, f *reading.Fields, amount market.Money, auction []byte) {
	bid := market.Bid{Amount: amount, Token: string(auction)}
	if code := f[reading.Currency]; code != "" {
		currency, ok := market.ParseCurrency(strings.ToUpper(code))
		if !ok {
			setInvalidMember(result, d.rules.Paths[reading.Currency])
			return
		}
		bid.Currency = currency
	}
	if d.rules.Paths[reading.Token] != "" {
		bid.Token = f[reading.Token]
		if bid.Token == "" || len(bid.Token) > market.MaxBidToken || !isVisibleASCII([]byte(bid.Token)) {
			setInvalidMember(result, d.rules.Paths[reading.Token])
			return
		}
	}
	result.Bid = bid
}

// normalizeAmount rewrites a price to the notation of JSON: 012.50, .5 and 12. become 12.50,
// 0.5 and 12. It leaves other texts unchanged, so that the parser of amounts rejects them.
func normalizeAmount(text string) []byte {
	whole, fraction, dotted := strings.Cut(text, ".")
	if trimmed := strings.TrimLeft(whole, "0"); trimmed != "" && trimmed[0] >= '1' && trimmed[0] <= '9' {
		whole = trimmed
	} else if trimmed == "" && text != "" && text != "." {
		whole = "0"
	}
	if !dotted || fraction == "" {
		return []byte(whole)
	}
	return []byte(whole + "." + fraction)
}

// judgePost sets the verdict on a post that was answered with a 2xx, by the dialect's rules.
// Only a configured word for yes is an acceptance, and only a configured word for no is a
// rejection. Otherwise it is unknown whether the buyer has the lead. whole is false if the body
// arrived incompletely.
func (d *dialect) judgePost(result market.PostResult, body []byte, whole bool) market.PostResult {
	result.Verdict = market.VerdictUnknown
	if !whole {
		return result
	}
	f, err := d.rules.Extract(body)
	if err != nil {
		result.Fault = market.FaultUnreadable
		return result
	}
	switch d.rules.Decide(&f) {
	case reading.Yes:
		result.Verdict, result.BuyerLeadID = market.VerdictAccepted, validLeadID(&f)
	case reading.No:
		result.Verdict, result.Code = market.VerdictRefused, reasonCode(&f)
		result.Final = result.Code != codeReusedKey
	default:
		result.Fault = market.FaultMalformed
	}
	return result
}

// readReason returns the buyer's reason in the body of an answer that is a rejection by its
// status alone. It returns "" if there is no reason.
func (d *dialect) readReason(body []byte) string {
	f, err := d.rules.Extract(body)
	if err != nil {
		return ""
	}
	return reasonCode(&f)
}

// reasonCode returns the buyer's reason for a rejection in lower case if it has the form of an
// error code. Otherwise it returns "", because free text must not be logged.
func reasonCode(f *reading.Fields) string {
	return errorCodeOrEmpty(strings.ToLower(f[reading.Reason]))
}

// validLeadID returns the id that the buyer gave the lead, or "" if it is too long or may be an
// e-mail address.
func validLeadID(f *reading.Fields) string {
	if id := f[reading.LeadID]; len(id) <= maxLeadID && isLeadIDText(id) {
		return id
	}
	return ""
}
