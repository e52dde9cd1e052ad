// SPDX-License-Identifier: GPL-2.0-or-later
// Reads lines of OTLP/JSON from standard input and makes messages of the protocol of them, by the classes that
// protobufjs generates from the official .proto files (an npm package of OpenTelemetry ships these). The messages are
// encoded to protobuf's bytes and decoded again; what comes out is written as JSON, with ids in hexadecimal.
// Arguments: the file with the generated classes; or two: the folder of the .proto files, and "protos".
'use strict';
const readline = require('readline');

function types(argument, isFolder) {
	if (!isFolder)
		return require(argument).opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
	const protobuf = require('protobufjs');
	const root = new protobuf.Root();
	root.resolvePath = (origin, target) => `${argument}/${target}`;
	root.loadSync('opentelemetry/proto/collector/trace/v1/trace_service.proto');
	return root.lookupType('opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest');
}

// Bytes are base64 in the JSON of protobuf, but ids are hexadecimal in that of OTLP.
function each(request, change) {
	for (const resource of request.resourceSpans || [])
		for (const scope of resource.scopeSpans || [])
			for (const span of scope.spans || [])
				for (const name of ['traceId', 'spanId', 'parentSpanId'])
					if (span[name] !== undefined && span[name].length)
						span[name] = change(span[name]);
	return request;
}

const Request = types(process.argv[2], process.argv[3] === 'protos');
readline.createInterface({input: process.stdin}).on('line', (line) => {
	const plain = each(JSON.parse(line), (id) => Buffer.from(id, 'hex'));
	const wrong = Request.verify(Request.fromObject(plain));
	if (wrong)
		throw new Error(wrong);
	const message = Request.decode(Request.encode(Request.fromObject(plain)).finish());
	const shown = Request.toObject(message, {longs: String, bytes: Array});
	console.log(JSON.stringify(each(shown, (id) => Buffer.from(id).toString('hex'))));
});
