// Package ddbjson reads DynamoDB's own JSON, in which every value names its
// type, into the types of the AWS SDK:
//
//	{"PutRequest": {"Item": {"customer": {"S": "c-17"}, "total": {"N": "49.90"}}}}
//
// It is meant for what people write by hand: it takes nothing that DynamoDB
// would refuse or that would be dropped in silence, such as an unknown or
// repeated field, and every error is an [Error], which names the field.
package ddbjson
