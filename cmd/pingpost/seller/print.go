package seller

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"pingpost/cmd/pingpost/terminal"
)

// tell prints an answer as a table, and writes the body of a successful one to out. An error
// answer is printed and ends the command with exit code 1.
func (h *response) tell(out, tell io.Writer, show func(body []byte, t *terminal.Table) error) error {
	t := terminal.Table{}
	if h.status/100 != 2 {
		h.fault(&t)
		_, err := io.WriteString(tell, t.String())
		return errors.Join(terminal.ExitCode(1), err)
	}
	if err := show(h.body, &t); err != nil {
		return fmt.Errorf("the answer %d is not an exchange's: %w", h.status, err)
	}
	h.addContext(&t)
	if _, err := io.WriteString(tell, t.String()); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "%s\n", h.body)
	return err
}

// fault shows an error's body.
func (h *response) fault(t *terminal.Table) {
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
	t.Row(fmt.Sprint("error ", h.status), said.Error)
	t.Row("", said.Message)
	if said.Reason != "" {
		t.Row("reason", said.Reason)
	}
	for _, field := range said.Fields {
		t.Row(field.Field, field.Code+": "+field.Expected)
	}
	if later := h.header.Get("Retry-After"); later != "" {
		t.Row("again after", later+" s, with --key "+h.key)
	}
	h.addContext(t)
}

// addContext adds the caller, the key and the request id to the table.
func (h *response) addContext(t *terminal.Table) {
	if h.as != "" {
		t.Row("sent as", h.as)
	}
	t.Row("key", h.key)
	t.Row("request_id", h.header.Get("X-Request-Id"))
	if h.header.Get("Idempotent-Replayed") == "true" {
		t.Row("repeated", "this is the answer to the key's first use")
	}
}
