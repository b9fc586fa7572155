package exclusion

import "pingpost/engine/market"

// faultDescriptions has the words for each fault of a request to a buyer or a supplier. They follow
// "got", and tell an operator where to look.
var faultDescriptions = map[market.OutboundRequestFault]string{
	market.FaultEndpoint:        "no request: the configured address is unusable",
	market.FaultCredential:      "no request: our credential or secret is missing or unusable, or the token endpoint gave no token",
	market.FaultResolve:         "no address for the host name of the endpoint (DNS)",
	market.FaultForbidden:       "no connection: the endpoint's address is in a private or reserved network that trusted_networks does not list",
	market.FaultConnect:         "no connection to the endpoint",
	market.FaultTLS:             "no TLS connection: the endpoint's certificate is not trusted, or the handshake failed",
	market.FaultConnectionLimit: "no free connection: all connections to the buyer were in use",
	market.FaultTimeout:         "no answer in time",
	market.FaultBroken:          "a connection that broke",
	market.FaultTooLarge:        "an answer that is too large",
	market.FaultUnreadable:      "an answer that is not valid HTTP, or not in the required format",
	market.FaultMalformed:       "an answer whose body does not have the required form",
}

// DescribeFault returns the words for a fault. It returns the fault's name if it has none, and "" for
// market.FaultNone.
func DescribeFault(fault market.OutboundRequestFault) string {
	if fault == market.FaultNone {
		return ""
	}
	if words, ok := faultDescriptions[fault]; ok {
		return words
	}
	return fault.String()
}

// describeFaultOfAnswer returns the words for a fault of an answer to a ping. invalidMember is the
// path of the member that made the answer invalid, or "".
func describeFaultOfAnswer(fault market.OutboundRequestFault, status uint32, invalidMember string) string {
	switch {
	case fault == market.FaultMalformed && invalidMember != "":
		return "an answer whose member " + invalidMember + " is missing or invalid"
	case fault == market.FaultUnreadable && status != 0:
		return "an answer whose body is not in the required format, such as a JSON object"
	case fault == market.FaultUnreadable:
		return "an answer that is not valid HTTP"
	}
	return DescribeFault(fault)
}
