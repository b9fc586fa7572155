package explain

import "pingpost/engine/market"

// FaultName is the name of a market.OutboundRequestFault, such as a timeout: the reason why a ping, post or
// webhook got no usable answer. It is "" without a fault.
type FaultName string

func nameOfFault(fault market.OutboundRequestFault) FaultName {
	if fault == market.FaultNone {
		return ""
	}
	return FaultName(fault.String())
}

// faultDescriptions explains each fault in words that tell an operator where to look.
var faultDescriptions = map[FaultName]string{
	nameOfFault(market.FaultEndpoint):        "the configured address of the buyer is unusable",
	nameOfFault(market.FaultCredential):      "our credential or secret for the buyer is missing or unusable, or its token endpoint gave no token",
	nameOfFault(market.FaultResolve):         "the buyer's host name has no address (DNS)",
	nameOfFault(market.FaultForbidden):       "the buyer's address is in a private or reserved network that trusted_networks does not list",
	nameOfFault(market.FaultConnect):         "no connection to the buyer",
	nameOfFault(market.FaultTLS):             "the buyer's certificate is not trusted, or the TLS handshake failed",
	nameOfFault(market.FaultConnectionLimit): "connection limit: all connections to the buyer were in use",
	nameOfFault(market.FaultTimeout):         "no answer in time",
	nameOfFault(market.FaultBroken):          "the connection broke",
	nameOfFault(market.FaultTooLarge):        "the buyer's answer is too large",
	nameOfFault(market.FaultUnreadable):      "the buyer's answer is unreadable",
	nameOfFault(market.FaultMalformed):       "the buyer's answer does not follow the contract",
}

// Description returns the fault in words for an operator. It returns the fault's name if this
// version of the program has no words for it.
func (f FaultName) Description() string {
	if words, ok := faultDescriptions[f]; ok {
		return words
	}
	return string(f)
}
