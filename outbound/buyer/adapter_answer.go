package buyer

import (
	"strings"

	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
	"pingpost/outbound/buyer/reading"
)

// setPingResultFrom2xxBody reads the body of a 2xx answer to a ping by the adapter protocol's rules,
// and sets the result.
//
//   - If the rules have a field that says whether the buyer accepts, a no is a no-bid, and an
//     unknown or missing word makes the answer invalid. A yes must have a price.
//   - Otherwise a price above zero is a bid. A missing or zero price is a no-bid, because such
//     endpoints write a zero price into every answer.
//   - An answer with a reason for a rejection, but without the configured field for acceptance,
//     is a no-bid too.
func (d *validatedAdapter) setPingResultFrom2xxBody(result *market.BuyerPingResult, body []byte, defaultBidToken []byte) {
	f, err := d.rules.ExtractFields(body)
	if err != nil {
		result.Outcome, result.Fault = market.OutcomeInvalid, market.FaultUnreadable
		return
	}
	decided := d.rules.Paths[reading.Accepted] != ""
	verdict := d.rules.Decide(&f)
	switch {
	case verdict == reading.No,
		decided && verdict == reading.Undecided && f[reading.Accepted] == "" && f[reading.Reason] != "",
		!decided && isPriceMissingOrZero(f[reading.Price]):
		result.Outcome, result.Reason = market.OutcomeNoBid, rejectionCodeOrEmpty(&f)
		return
	case decided && verdict == reading.Undecided:
		markPingAnswerInvalid(result, d.rules.Paths[reading.Accepted])
		return
	}
	amount, err := market.ParseBidAmount(fixZerosAndPointForJSON(f[reading.Price]))
	if err != nil {
		markPingAnswerInvalid(result, d.rules.Paths[reading.Price])
		return
	}
	d.setBidWithCurrencyAndToken(result, &f, amount, defaultBidToken)
}

// isPriceMissingOrZero reports whether a price in a buyer's answer is missing or zero.
func isPriceMissingOrZero(price string) bool {
	amount, err := market.ParseMoney(fixZerosAndPointForJSON(price))
	return price == "" || err == nil && amount == 0
}

// setPingResult sets the result of a ping from the status and the body of the answer. A 204 is a
// no-bid, and a status outside 2xx is an error. The adapter protocol's rules decide about the rest. Only an
// answer with a status outside 2xx may be incomplete.
func (d *validatedAdapter) setPingResult(result *market.BuyerPingResult, body, defaultBidToken []byte) {
	switch status := result.Status; {
	case status == fasthttp.StatusNoContent:
		result.Outcome = market.OutcomeNoBid
	case status < 200 || status > 299:
		result.Outcome = market.OutcomeError
		if result.Fault == market.FaultNone {
			result.Reason = d.readRejectionCode(body)
		}
	default:
		d.setPingResultFrom2xxBody(result, body, defaultBidToken)
	}
}

// setBidWithCurrencyAndToken sets the bid with this amount in the result, after it has read currency and
// token from the fields f. If one of them is invalid, the result gets no bid. Without a
// configured token field the auction's id serves as the token.
func (d *validatedAdapter) setBidWithCurrencyAndToken(result *market.BuyerPingResult, f *reading.AnswerFields, amount market.Money, defaultBidToken []byte) {
	bid := market.Bid{Amount: amount, Token: string(defaultBidToken)}
	if code := f[reading.Currency]; code != "" {
		currency, ok := market.ParseCurrency(strings.ToUpper(code))
		if !ok {
			markPingAnswerInvalid(result, d.rules.Paths[reading.Currency])
			return
		}
		bid.Currency = currency
	}
	if d.rules.Paths[reading.Token] != "" {
		bid.Token = f[reading.Token]
		if bid.Token == "" || len(bid.Token) > market.MaxBidToken || !isVisibleASCII([]byte(bid.Token)) {
			markPingAnswerInvalid(result, d.rules.Paths[reading.Token])
			return
		}
	}
	result.Bid = bid
}

// fixZerosAndPointForJSON rewrites a price to the notation of JSON: 012.50, .5 and 12. become 12.50,
// 0.5 and 12. Other texts stay invalid, and the parser of amounts rejects them.
func fixZerosAndPointForJSON(price string) []byte {
	whole, fraction, dotted := strings.Cut(price, ".")
	if trimmed := strings.TrimLeft(whole, "0"); trimmed != "" && trimmed[0] >= '1' && trimmed[0] <= '9' {
		whole = trimmed
	} else if trimmed == "" && price != "" && price != "." {
		whole = "0"
	}
	if !dotted || fraction == "" {
		return []byte(whole)
	}
	return []byte(whole + "." + fraction)
}

// judgePostFrom2xxBody sets the verdict on a post that was answered with a 2xx, by the adapter
// protocol's rules. Only a configured word for yes is an acceptance. A rejection is a configured word
// for no, or any other word if none is configured. Otherwise it is unknown whether the buyer has the
// lead. isComplete is false if the body arrived incompletely.
func (d *validatedAdapter) judgePostFrom2xxBody(result market.BuyerPostResult, body []byte, isComplete bool) market.BuyerPostResult {
	result.Verdict = market.VerdictUnknown
	if !isComplete {
		return result
	}
	f, err := d.rules.ExtractFields(body)
	if err != nil {
		result.Fault = market.FaultUnreadable
		return result
	}
	switch d.rules.Decide(&f) {
	case reading.Yes:
		result.Verdict, result.BuyerLeadID = market.VerdictAccepted, buyerLeadIDOrEmpty(&f)
	case reading.No:
		result.Verdict, result.Code = market.VerdictRefused, rejectionCodeOrEmpty(&f)
		result.Final = result.Code != codeReusedKey
	default:
		result.Fault = market.FaultMalformed
	}
	return result
}

// readRejectionCode returns the buyer's reason in the body of an answer with a status outside 2xx. It
// returns "" if the body has no reason in the form of an error code.
func (d *validatedAdapter) readRejectionCode(body []byte) string {
	f, err := d.rules.ExtractFields(body)
	if err != nil {
		return ""
	}
	return rejectionCodeOrEmpty(&f)
}

// rejectionCodeOrEmpty returns the buyer's reason for a rejection in lower case if it has the form of an
// error code. Otherwise it returns "", because free text must not be logged.
func rejectionCodeOrEmpty(f *reading.AnswerFields) string {
	return errorCodeOrEmpty(strings.ToLower(f[reading.Reason]))
}

// buyerLeadIDOrEmpty returns the id that the buyer gave the lead, or "" if it is too long or may be an
// e-mail address.
func buyerLeadIDOrEmpty(f *reading.AnswerFields) string {
	if id := f[reading.LeadID]; len(id) <= maxLeadID && isVisibleASCIIWithoutAt(id) {
		return id
	}
	return ""
}
