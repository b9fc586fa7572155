package config

import (
	"encoding/base64"
	"strings"
)

// Webhook is where a supplier hears of its leads.
type Webhook struct {
	URL    string `json:"url"`
	Secret Secret `json:"secret,omitzero"` // whsec_ and base64
}

const webhookSecret = "whsec_"

func (c *compiler) webhook(at place, supplier string, w *Webhook) {
	if w.URL == "" {
		c.fail(at.key("url"), "is missing; give the address, or leave the webhook out")
	} else {
		c.url(at.key("url"), w.URL, true)
	}
	c.needed(at.key("secret"), w.Secret)
	if value := w.Secret.Reveal(); value != "" && !signs(value) {
		c.fail(at.key("secret"), "is not a webhook secret; it is whsec_ followed by base64")
		return
	}
	c.keep("supplier/"+supplier+"/webhook", w.Secret)
}

// signs tells whether the secret has bytes to sign with.
func signs(secret string) bool {
	encoded, ok := strings.CutPrefix(secret, webhookSecret)
	if !ok || len(secret) > maxSecret {
		return false
	}
	key, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		key, err = base64.RawStdEncoding.DecodeString(encoded)
	}
	return err == nil && len(key) > 0
}
