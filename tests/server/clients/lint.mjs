// lint.mjs CACHE FILE - what redocly (its recommended rules) and spectral (spectral:oas) find in a description, a line
// each; status 1 where there is anything. CACHE/node_modules has both.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

const [cache, file] = process.argv.slice(2);
const load = createRequire(resolve(cache, 'node_modules', 'x.js'));
const found = [];

const redocly = load('@redocly/openapi-core');
const config = await redocly.createConfig({ extends: ['recommended'] });
for (const p of await redocly.lint({ ref: resolve(file), config }))
    found.push(`redocly ${p.severity} ${p.ruleId} ${p.location?.[0]?.pointer ?? ''}: ${p.message}`);

const { Spectral, Document } = load('@stoplight/spectral-core');
const { Json } = load('@stoplight/spectral-parsers');
const { oas } = load('@stoplight/spectral-rulesets');
const spectral = new Spectral();
spectral.setRuleset({ extends: [oas] });
for (const p of await spectral.run(new Document(readFileSync(file, 'utf8'), Json, file)))
    found.push(`spectral ${p.severity} ${p.code} ${p.path.join('/')}: ${p.message}`);

console.log(found.join('\n'));
process.exit(found.length ? 1 : 0);
