#!/usr/bin/env node
import { keepCompiledCode } from './cli/compile-cache.ts';

keepCompiledCode();
const { main } = await import('./cli/main.ts');
process.exit(await main(process.argv.slice(2)));
