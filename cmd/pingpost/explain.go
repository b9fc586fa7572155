package main

import (
	"io"
	"net/url"

	"pingpost/cmd/pingpost/client"
	"pingpost/cmd/pingpost/timeline"
	"pingpost/exchange/explain"
)

// explainCmd prints why a lead was sold or not, or the course of an auction or a request.
type explainCmd struct {
	client.AdminFlags
	ID       string `arg:"" help:"Id of a lead (lead_…), an auction (auc_…), a ping (ping_…) or a request (req_…, from an answer's X-Request-Id), or a seller's own auction id."`
	Supplier string `help:"The supplier of the auction, if several suppliers used the same auction id." placeholder:"ID"`
	JSON     bool   `name:"json" help:"Print the admin API's answer unchanged."`
}

// Help returns the text that --help shows after the usage line.
func (*explainCmd) Help() string {
	return `Prints why the lead was sold or not, and for a ping its offers and the leads that
used them. Then it prints a timeline in milliseconds from the request's arrival:
the buyers that were not pinged, with the reason; each buyer's answer and its time
(the bar is full at the deadline); each attempt to post the lead and its result;
and the supplier's answer.

The exchange reads this from its log, as far back as history reaches. The output
has no contact data.`
}

// Run fetches the explanation from the exchange and prints it as text or as JSON.
func (c *explainCmd) Run(out io.Writer) error {
	query := url.Values{"id": {c.ID}}
	if c.Supplier != "" {
		query.Set("supplier", c.Supplier)
	}
	var explained explain.Explanation
	document, err := c.CallJSON("GET", "/admin/v1/explain?"+query.Encode(), nil, &explained)
	if err != nil {
		return err
	}
	if c.JSON {
		_, err = out.Write(document)
	} else {
		_, err = io.WriteString(out, timeline.FormatExplanation(&explained))
	}
	return err
}
