package explain

import "pingpost/engine/market"

// Fault is the name of the market.Fault because of which a buyer gave no usable answer, such as
// a timeout. It is "" without a fault.
type Fault string

func faultName(fault market.Fault) Fault {
	if fault == market.FaultNone {
		return ""
	}
	return Fault(fault.String())
}

// faultDescriptions explains each fault in words that tell an operator where to look.
var faultDescriptions = map[Fault]string{
	faultName(market.FaultEndpoint):        "the configured address of the buyer is unusable",
	faultName(market.FaultCredential):      "our credential or secret for the buyer is missing or unusable, or its token endpoint gave no token",
	faultName(market.FaultResolve):         "the buyer's host name has no address (DNS)",
	faultName(market.FaultForbidden):       "the buyer's address is in a private or reserved network that trusted_networks does not list",
	faultName(market.FaultConnect):         "no connection to the buyer",
	faultName(market.FaultTLS):             "the buyer's certificate is not trusted, or the TLS handshake failed",
	faultName(market.FaultConnectionLimit): "connection limit: all connections to the buyer were in use",
	faultName(market.FaultTimeout):         "no answer in time",
	faultName(market.FaultBroken):          "the connection broke",
	faultName(market.FaultTooLarge):        "the buyer's answer is too large",
	faultName(market.FaultUnreadable):      "the buyer's answer is unreadable",
	faultName(market.FaultMalformed):       "the buyer's answer does not follow the contract",
}

// Description returns the fault in words for an operator. It returns the fault's name if this
// version of the program has no words for it.
func (f Fault) Description() string {
	if words, ok := faultDescriptions[f]; ok {
		return words
	}
	return string(f)
}
