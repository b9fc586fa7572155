package webhook

import (
	"strconv"

	"pingpost/engine/market"
	"pingpost/outbound/dial"
	"pingpost/outbound/webhook/signature"
)

// signingKeys returns the keys with which a supplier's webhooks are signed: that of the secret
// called secretName, and that of the secret before its last rotation, if one exists. It returns no
// keys if the current secret is missing or invalid.
func (c *Client) signingKeys(secretName string) []signature.Key {
	var keys []signature.Key
	for _, name := range [...]string{secretName, signature.PreviousSecretName(secretName)} {
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

// encodeRequest returns the whole HTTP request of a webhook with its signatures by keys. unixSeconds is
// the time of this attempt in Unix seconds by the machine's clock. The exchange's clock may be
// ahead, and receivers compare the time with their own.
func encodeRequest(target *dial.Target, r *market.WebhookRequest, keys []signature.Key, unixSeconds int64) []byte {
	text := make([]byte, 0, 512+len(target.Path)+len(target.Authority)+len(r.Body)+len(keys)*128)
	text = append(append(append(text, "POST "...), target.Path...), " HTTP/1.1\r\n"...)
	text = dial.AppendHeader(text, "User-Agent", "", "pingpost")
	text = dial.AppendHeader(text, "Host", "", target.Authority)
	text = dial.AppendHeader(text, "Content-Type", "", "application/json")
	text = dial.AppendHeader(text, "Content-Length", "", strconv.Itoa(len(r.Body)))
	text = dial.AppendHeader(text, "webhook-id", "", r.ID)
	text = dial.AppendHeader(text, "webhook-timestamp", "", strconv.FormatInt(unixSeconds, 10))
	text = append(signature.AppendStandardSignatures(append(text, "webhook-signature: "...), keys, r.ID, unixSeconds, r.Body), "\r\n"...)
	text = append(signature.AppendPingpostSignatures(append(text, "X-Pingpost-Signature: "...), keys, unixSeconds, r.Body), "\r\n\r\n"...)
	return append(text, r.Body...)
}
