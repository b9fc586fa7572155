package explain

import "pingpost/engine/market"

// Fault is why a buyer gave no answer to go by: a name of market's, empty where it
// gave one.
type Fault string

func faultOf(fault market.Fault) Fault {
	if fault == market.FaultNone {
		return ""
	}
	return Fault(fault.String())
}

// inWords says what an operator would look at.
var faultDescriptions = map[Fault]string{
	faultOf(market.FaultEndpoint):        "its configured address cannot be used",
	faultOf(market.FaultCredential):      "our credential or a secret for it is missing or unusable, or no token was to be had",
	faultOf(market.FaultResolve):         "its name has no address",
	faultOf(market.FaultForbidden):       "its address is in a network that is not trusted",
	faultOf(market.FaultConnect):         "no connection",
	faultOf(market.FaultTLS):             "no trust in its certificate, or no handshake",
	faultOf(market.FaultConnectionLimit): "connection limit: every connection allowed to it was in use",
	faultOf(market.FaultTimeout):         "no answer in time",
	faultOf(market.FaultBroken):          "the connection broke",
	faultOf(market.FaultTooLarge):        "its answer is over the limit",
	faultOf(market.FaultUnreadable):      "its answer cannot be read",
	faultOf(market.FaultMalformed):       "its answer can be read, but is not what is owed",
}

// Words say it to a person.
func (f Fault) Description() string {
	if words, ok := faultDescriptions[f]; ok {
		return words
	}
	return string(f)
}
