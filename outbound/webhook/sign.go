package webhook

import (
	"strconv"

	"pingpost/engine/market"
	"pingpost/outbound/dial"
	"pingpost/outbound/webhook/signature"
)

// keys are those that sign: the present one, and the previous one while it lives.
// There are none where there is no present one that can sign.
func (c *Client) keys(name string) []signature.Key {
	var keys []signature.Key
	for _, name := range [...]string{name, signature.PreviousName(name)} {
		secret, _ := c.secrets(name)
		key, ok := signature.ParseSecret(secret)
		if !ok && len(keys) == 0 {
			return nil
		}
		if ok {
			keys = append(keys, key)
		}
	}
	return keys
}

// compose writes the whole request. At is the attempt's own time, in Unix seconds.
// It is the machine's and not the exchange's, which may be ahead of it: receivers
// hold it against their own clocks.
func compose(to *dial.Target, r *market.WebhookRequest, keys []signature.Key, at int64) []byte {
	text := make([]byte, 0, 512+len(to.Path)+len(to.Authority)+len(r.Body)+len(keys)*128)
	text = append(append(append(text, "POST "...), to.Path...), " HTTP/1.1\r\n"...)
	text = dial.AppendHeader(text, "User-Agent", "", "pingpost")
	text = dial.AppendHeader(text, "Host", "", to.Authority)
	text = dial.AppendHeader(text, "Content-Type", "", "application/json")
	text = dial.AppendHeader(text, "Content-Length", "", strconv.Itoa(len(r.Body)))
	text = dial.AppendHeader(text, "webhook-id", "", r.ID)
	text = dial.AppendHeader(text, "webhook-timestamp", "", strconv.FormatInt(at, 10))
	text = append(signature.AppendStandard(append(text, "webhook-signature: "...), keys, r.ID, at, r.Body), "\r\n"...)
	text = append(signature.AppendOwn(append(text, "X-Pingpost-Signature: "...), keys, at, r.Body), "\r\n\r\n"...)
	return append(text, r.Body...)
}
