package wire

import (
	"pingpost/engine"
	"pingpost/engine/market/escape"
)

// AppendIngestAnswer appends the JSON answer to an ingest: sold with buyer and price, or unsold
// with the reason.
func AppendIngestAnswer(body []byte, a *engine.IngestAnswer) []byte {
	body = a.Lead.AppendAsText(append(body, `{"data":{"id":"`...))
	if a.Accepted {
		body = escape.AppendJSONString(append(body, `","status":"ACCEPTED","buyer_id":`...), []byte(a.Buyer))
	} else {
		body = append(body, `","status":"UNMATCHED","buyer_id":null`...)
	}
	body = escape.AppendJSONString(append(body, `,"campaign_id":`...), []byte(a.Campaign))
	if a.Accepted {
		body = append(body, `,"price":{`...)
		return append(AppendPriceMembers(body, a.Payout, a.Currency), "}}}"...)
	}
	body = append(body, `,"reason":"`...)
	body = append(body, a.Reason.String()...)
	return append(body, `"}}`...)
}
