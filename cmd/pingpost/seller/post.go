package seller

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"

	"pingpost/cmd/pingpost/terminal"
)

// PostCommand posts a lead for a bid of the exchange.
type PostCommand struct {
	sellerFlags
	Fields fieldArgs `arg:"" optional:"" name:"field..." help:"The fields of the post: NAME=VALUE, NAME:=JSON, @FILE with a JSON object or an answer to a ping, - for one on standard input."`
}

// Help returns the text of --help after the usage line.
func (*PostCommand) Help() string {
	return `For example, with the answer of pingpost ping in bid.json:

  pingpost post --client-id acme --client-secret S @bid.json \
    lead.first_name=Ann lead.last_name=Lee lead.email=ann@example.com \
    lead.phone=4155550132 lead.address.state=CA lead.address.zip=94105

` + fieldsHelp + `

` + credentialHelp + `

Of an answer to a ping, auction_id and the bid's token are taken. Where
lead.lead_uuid is not given it is the idempotency key, so the same --key sends
the same again: that is how to hear what became of a post whose answer was lost,
or was 502 or 504.

The exit code is 0 when the lead is sold, and 1 for any other answer.`
}

// Run posts.
func (c *PostCommand) Run() error {
	return c.run(context.Background(), os.Stdin, os.Stdout, os.Stderr)
}

func (c *PostCommand) run(ctx context.Context, in io.Reader, out, tell io.Writer) error {
	fields, err := parseFields(c.Fields, in)
	if err != nil {
		return err
	}
	if err := convertBid(fields); err != nil {
		return err
	}
	call := sellerCall{flags: &c.sellerFlags, path: "/v1/post", scope: "post", fields: fields, in: "lead.lead_uuid"}
	if call.as, err = c.credential(""); err != nil {
		return err
	}
	said, err := call.make(ctx)
	if err != nil {
		return err
	}
	return said.tell(out, tell, showSale)
}

// convertBid replaces a ping's answer among the fields by auction_id and bid_token.
func convertBid(fields map[string]any) error {
	if _, ok := fields["data"].(map[string]any); ok {
		return errors.New("this is the answer to a ping by API key; send its lead to /api/v1/ingest, with flo_ping_id and flo_buyer_id")
	}
	bid, answered := fields["bid"]
	if !answered {
		return nil
	}
	offer, _ := bid.(map[string]any)
	if offer == nil {
		reason, _ := fields["reject_reason"].(string)
		return errors.New("the ping got no bid to post to: " + reason)
	}
	if _, ok := fields["bid_token"]; !ok {
		fields["bid_token"] = offer["bid_token"]
	}
	delete(fields, "bid")
	return nil
}

func showSale(body []byte, t *terminal.Table) error {
	var a struct {
		ID    string `json:"id"`
		Lead  string `json:"lead_id"`
		Buyer string `json:"buyer_id"`
		Price price  `json:"price"`
	}
	if err := json.Unmarshal(body, &a); err != nil {
		return err
	}
	t.Row("sold", a.Price.String())
	t.Row("id", a.ID)
	t.Row("buyer_id", a.Buyer)
	t.Row("lead_id", a.Lead)
	return nil
}
