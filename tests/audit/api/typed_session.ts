// What an integrator writes on the client that openapi-generator makes: one event sent, its receipt and its stream read.
// Arguments: the record's address, a key, the casino, the gaming day.

import { Configuration, FindingMessage, SessionOpenedToJSON, StreamsApi } from "./client";

declare const process: { argv: string[] };

async function main(): Promise<void> {
  const [basePath, accessToken, casino, day] = process.argv.slice(2);
  const streams = new StreamsApi(new Configuration({ basePath, accessToken }));
  const stream = "harbour.T1.typescript";
  const data = SessionOpenedToJSON({
    casino,
    table: "T1",
    gamingDay: new Date(day),
    game: "craps",
    ruleset: "fr-craps",
    currency: "EUR",
    _float: 500000,
    observes: [],
  });
  const receipt = await streams.streamsEventsCreate({
    stream,
    eventsCreateRequest: [{ stream, seq: 1, type: "session.opened", occurredAt: new Date(), data }],
  });
  const standing = await streams.streamsRetrieve({ stream });
  console.log(receipt.nextSeq, standing.nextSeq, standing.casino);
}

// A receiver of webhooks has a type for what it is sent.
export function ruleOf(message: FindingMessage): string | null {
  return message.data.finding.rule;
}

void main();
