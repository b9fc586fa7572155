package buyer

import (
	"strings"

	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
	"pingpost/outbound/buyer/reading"
)

// readPingAnswer reads a 2xx to a ping by the dialect's rules.
//
//   - If the rules define acceptance, an accepted answer must have a price.
//   - Otherwise a price above zero is a bid. No price is a no-bid, and so is zero, because
//     such endpoints write a zero price into every answer.
//   - An answer with a reason but without a decision is a no-bid too. It sells no lead.
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

// isEmptyOrZero reports whether the text is empty or a zero.
func isEmptyOrZero(text string) bool {
	amount, err := market.ParseMoney(normalizeAmount(text))
	return text == "" || err == nil && amount == 0
}

// judgePing interprets a complete answer to a ping. A 204 is a no-bid, other statuses
// outside 2xx are errors, and the dialect's rules decide about the rest.
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

// readBidTerms reads currency and token. It sets the result's bid only if both are valid.
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

// normalizeAmount converts other notations of amounts to JSON's: 012.50, .5 and 12. become
// 12.50, 0.5 and 12. It leaves everything else unchanged, and the parser rejects it.
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

// judgePost interprets a 2xx to a post by the dialect's rules. Only a configured yes is an
// acceptance, and only a configured no is a rejection. In all other cases it is unknown
// whether the buyer has the lead.
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

// readReason returns the buyer's reason in an answer that its status has decided.
func (d *dialect) readReason(body []byte) string {
	f, err := d.rules.Extract(body)
	if err != nil {
		return ""
	}
	return reasonCode(&f)
}

// reasonCode returns the buyer's reason for a rejection if it is a code, in lower case, or
// "".
func reasonCode(f *reading.Fields) string {
	return errorCodeOrEmpty(strings.ToLower(f[reading.Reason]))
}

// validLeadID returns the buyer's id of the lead if it is valid, or "".
func validLeadID(f *reading.Fields) string {
	if id := f[reading.LeadID]; len(id) <= maxLeadID && isLeadIDText(id) {
		return id
	}
	return ""
}
