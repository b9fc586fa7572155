package seller

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"pingpost/cmd/pingpost/terminal"
)

// printAnswerOrExitError prints the exchange's answer as a table to tableOut, and the body of a
// successful answer to bodyOut. After an error answer it returns exit code 1. addRows adds the
// body's content to the table.
func (h *exchangeResponse) printAnswerOrExitError(bodyOut, tableOut io.Writer, addRows func(body []byte, t *terminal.Table) error) error {
	t := terminal.Table{}
	if h.status/100 != 2 {
		h.addErrorRows(&t)
		_, err := io.WriteString(tableOut, t.String())
		return errors.Join(terminal.ExitCodeError(1), err)
	}
	if err := addRows(h.body, &t); err != nil {
		return fmt.Errorf("the HTTP %d answer is not from a pingpost exchange: %w", h.status, err)
	}
	h.addCallerKeyAndRequestIDRows(&t)
	if _, err := io.WriteString(tableOut, t.String()); err != nil {
		return err
	}
	_, err := fmt.Fprintf(bodyOut, "%s\n", h.body)
	return err
}

// addErrorRows adds the message, reason and field errors of an error answer to the table.
func (h *exchangeResponse) addErrorRows(t *terminal.Table) {
	var answer struct {
		Error   string `json:"error"`
		Message string `json:"message"`
		Reason  string `json:"reason"`
		Fields  []struct {
			Field    string `json:"field"`
			Code     string `json:"code"`
			Expected string `json:"expected"`
		} `json:"field_errors"`
	}
	if json.Unmarshal(h.body, &answer) != nil || answer.Error == "" {
		answer.Message = "the answer is not from a pingpost exchange"
	}
	t.Row(fmt.Sprint("error ", h.status), answer.Error)
	t.Row("", answer.Message)
	if answer.Reason != "" {
		t.Row("reason", answer.Reason)
	}
	for _, field := range answer.Fields {
		t.Row(field.Field, field.Code+": "+field.Expected)
	}
	if later := h.header.Get("Retry-After"); later != "" {
		t.Row("again after", later+" s, with --key "+h.key)
	}
	h.addCallerKeyAndRequestIDRows(t)
}

// addCallerKeyAndRequestIDRows adds the caller, the idempotency key and the request id to the table.
func (h *exchangeResponse) addCallerKeyAndRequestIDRows(t *terminal.Table) {
	if h.credentialNote != "" {
		t.Row("sent as", h.credentialNote)
	}
	t.Row("key", h.key)
	t.Row("request_id", h.header.Get("X-Request-Id"))
	if h.header.Get("Idempotent-Replayed") == "true" {
		t.Row("repeated", "this is the answer to the key's first use")
	}
}
