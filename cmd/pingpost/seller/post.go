package seller

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"

	"pingpost/cmd/pingpost/terminal"
)

// PostCommand posts a lead to an exchange that has bid for it.
type PostCommand struct {
	sellerFlags
	Fields rawFieldArgsAmongFlags `arg:"" optional:"" name:"field..." help:"The fields of the post: NAME=VALUE, NAME:=JSON, @FILE with a JSON object or an answer to a ping, - for one on standard input."`
}

// Help returns the text that --help shows after the usage line.
func (*PostCommand) Help() string {
	return `For example, with the answer of pingpost ping in bid.json:

  pingpost post --client-id acme --client-secret S @bid.json \
    lead.first_name=Ann lead.last_name=Lee lead.email=ann@example.com \
    lead.phone=4155550132 lead.address.state=CA lead.address.zip=94105

` + fieldsHelp + `

` + credentialHelp + `

From the answer to a ping, the command takes auction_id and the bid's token. A
missing lead.lead_uuid is the idempotency key, so the same --key repeats the post:
use it to get the result of a post whose answer was lost, or was 502 or 504.

The exit code is 0 if the lead is sold, and 1 for any other answer.`
}

// Run posts the lead and prints the result.
func (c *PostCommand) Run() error {
	return c.run(context.Background(), os.Stdin, os.Stdout, os.Stderr)
}

func (c *PostCommand) run(ctx context.Context, in io.Reader, out, messages io.Writer) error {
	fields, err := parseRequestFields(c.Fields, in)
	if err != nil {
		return err
	}
	if err := replacePingAnswerByBidToken(fields); err != nil {
		return err
	}
	request := sellerRequest{flags: &c.sellerFlags, path: "/v1/post", scope: "post", fields: fields, keyField: "lead.lead_uuid"}
	if request.credential, err = c.chooseCredentialOrNone(""); err != nil {
		return err
	}
	response, err := request.sendOnce(ctx)
	if err != nil {
		return err
	}
	return response.printAnswerOrExitError(out, messages, addSaleRows)
}

// replacePingAnswerByBidToken changes fields that contain the answer to a ping into those of a post:
// auction_id and the bid's token stay. It returns an error if the answer has no bid, or answers a ping
// by API key.
func replacePingAnswerByBidToken(fields map[string]any) error {
	if _, ok := fields["data"].(map[string]any); ok {
		return errors.New("the answer to a ping by API key has no bid to post to; send the lead to /api/v1/ingest, with flo_ping_id and flo_buyer_id")
	}
	bid, answered := fields["bid"]
	if !answered {
		return nil
	}
	offer, _ := bid.(map[string]any)
	if offer == nil {
		reason, _ := fields["reject_reason"].(string)
		return errors.New("the ping's answer has no bid, so no lead can be posted: " + reason)
	}
	if _, ok := fields["bid_token"]; !ok {
		fields["bid_token"] = offer["bid_token"]
	}
	delete(fields, "bid")
	return nil
}

// addSaleRows adds the sale from the answer to a post to the table that the command prints.
func addSaleRows(answerBody []byte, t *terminal.Table) error {
	var a struct {
		ID    string    `json:"id"`
		Lead  string    `json:"lead_id"`
		Buyer string    `json:"buyer_id"`
		Price priceJSON `json:"price"`
	}
	if err := json.Unmarshal(answerBody, &a); err != nil {
		return err
	}
	t.Row("sold", a.Price.String())
	t.Row("id", a.ID)
	t.Row("buyer_id", a.Buyer)
	t.Row("lead_id", a.Lead)
	return nil
}
