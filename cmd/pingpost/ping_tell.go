package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// tell shows an answer to a person, and writes it to out where it is what was
// asked for. An error is told and ends with exit 1.
func (h *heard) tell(out, tell io.Writer, show func(body []byte, t *table) error) error {
	t := table{}
	if h.status/100 != 2 {
		h.fault(&t)
		_, err := io.WriteString(tell, t.String())
		return errors.Join(exitCode(1), err)
	}
	if err := show(h.body, &t); err != nil {
		return fmt.Errorf("the answer %d is not an exchange's: %w", h.status, err)
	}
	h.frame(&t)
	if _, err := io.WriteString(tell, t.String()); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "%s\n", h.body)
	return err
}

// fault shows an error's body.
func (h *heard) fault(t *table) {
	var said struct {
		Error   string `json:"error"`
		Message string `json:"message"`
		Reason  string `json:"reason"`
		Fields  []struct {
			Field    string `json:"field"`
			Code     string `json:"code"`
			Expected string `json:"expected"`
		} `json:"field_errors"`
	}
	if json.Unmarshal(h.body, &said) != nil || said.Error == "" {
		said.Message = "the answer is not an exchange's"
	}
	t.row(fmt.Sprint("error ", h.status), said.Error)
	t.row("", said.Message)
	if said.Reason != "" {
		t.row("reason", said.Reason)
	}
	for _, field := range said.Fields {
		t.row(field.Field, field.Code+": "+field.Expected)
	}
	if later := h.header.Get("Retry-After"); later != "" {
		t.row("again after", later+" s, with --key "+h.key)
	}
	h.frame(t)
}

// frame shows what stands around an answer.
func (h *heard) frame(t *table) {
	if h.as != "" {
		t.row("sent as", h.as)
	}
	t.row("key", h.key)
	t.row("request_id", h.header.Get("X-Request-Id"))
	if h.header.Get("Idempotent-Replayed") == "true" {
		t.row("repeated", "this is the answer to the key's first use")
	}
}
